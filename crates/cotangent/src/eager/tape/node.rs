//! Values, and the data of the nodes of a tape.

use super::saved::{NodeDerivative, SavedState, SavedTensors};
use crate::eager::error::Result;
use crate::eager::kinks::weights::{KinkWeights, WeightNodes};
use crate::eager::turns::lock;
use crate::tensor::Given;
use cotangent_core::tape::{self, NodeData, Shared, UniqueNode};
use cotangent_core::{Loc, Type};
use once_cell::race::OnceBox;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// A tensor, its memory order, and its tangent in the tape if it is tracked.
#[derive(Clone)]
pub(in crate::eager) struct Value {
    pub tensor: cotangent_cpu::Tensor,
    /// The type of the tensor, computed on first use by a rule. Most values need none.
    pub ty: OnceBox<Type>,
    pub given: Given,
    pub edge: Option<Edge>,
    /// Data of a derivative at kinks. Most values have none.
    pub sides: Option<Box<Sides>>,
}

/// Data of a value that depends on derivatives at kinks.
#[derive(Clone, Default)]
pub(in crate::eager) struct Sides {
    /// Its value on one side of the kinks, if it differs. Operations on it are differentiated at
    /// this value.
    pub twin: Option<cotangent_cpu::Tensor>,
    /// The nodes that its weights were computed from, if it is untracked.
    pub weights: Option<WeightNodes>,
}

impl Value {
    /// A value that tracks no gradient.
    pub(crate) fn new(tensor: cotangent_cpu::Tensor, given: Given) -> Value {
        Value {
            tensor,
            ty: OnceBox::new(),
            given,
            edge: None,
            sides: None,
        }
    }

    /// Element type and shape.
    pub(crate) fn ty(&self) -> &Type {
        self.ty.get_or_init(|| Box::new(self.tensor.ty()))
    }

    pub(crate) fn rank(&self) -> usize {
        self.tensor.shape().len()
    }
}

/// Operands of one operation, owned: a buffer without other references may be overwritten.
pub(in crate::eager) type Inputs = SmallVec<[Value; 2]>;

/// Results of one operation.
pub(in crate::eager) type Values = SmallVec<[Value; 1]>;

/// The memory order of results of an operation on these values.
pub(in crate::eager) fn given_by<'v>(x: impl Iterator<Item = &'v Value>) -> Given {
    Given::of_results(x.map(|v| v.given))
}

/// The accumulated gradient of a tensor.
#[derive(Default)]
pub(in crate::eager) struct Gradient {
    pub value: Option<Value>,
    /// Number of changes.
    pub version: u64,
}

/// The gradient of a variable, shared by its tensors.
pub(in crate::eager) type Grad = Arc<Mutex<Gradient>>;

/// The gradients of the results of an operation, by slot.
#[derive(Default)]
pub(in crate::eager) struct ResultGradients {
    of: SmallVec<[(u32, Gradient); 1]>,
    /// The number of times that the runtime's gradients were cleared when one was used last.
    /// Gradients from before the last time are none.
    clears: u64,
}

/// The place of the gradient of the tensors with one tangent.
pub(in crate::eager) enum GradientPlace<'n> {
    /// Of a variable.
    Variable(Grad),
    /// Of a result of an operation, by slot.
    Result(&'n Node, u32),
}

impl GradientPlace<'_> {
    /// Runs `f` on the gradient, under its lock. `clears` is the number of times that the
    /// runtime's gradients were cleared.
    pub(crate) fn with<R>(&self, clears: u64, f: impl FnOnce(&mut Gradient) -> R) -> R {
        let (node, slot) = match self {
            GradientPlace::Variable(grad) => return f(&mut lock(grad)),
            GradientPlace::Result(node, slot) => (node, *slot),
        };
        let mut all = lock(node.gradients.get_or_init(Box::default));
        if all.clears < clears {
            // No drop of an untracked tensor runs user code.
            all.of.clear();
            all.clears = clears;
        }
        let known = all.of.iter().position(|g| g.0 == slot);
        let at = known.unwrap_or_else(|| {
            all.of.push((slot, Gradient::default()));
            all.of.len() - 1
        });
        f(&mut all.of[at].1)
    }
}

impl Gradient {
    /// Removes the gradient. The caller drops it after the lock is released, since it may hold the
    /// last reference to a tape.
    #[must_use]
    pub(crate) fn take(&mut self) -> Option<Value> {
        self.version += 1;
        self.value.take()
    }
}

/// A hook function: receives a cotangent, and may return a replacement.
pub(in crate::eager) type HookFn = Arc<dyn Fn(&Value) -> Result<Option<Value>> + Send + Sync>;

/// A hook of a tensor: its slot, the memory order of the tensor, and the function.
#[derive(Clone)]
pub(in crate::eager) struct Hook {
    pub id: u64,
    pub slot: u32,
    pub given: Given,
    pub call: HookFn,
}

/// The hooks of a node.
pub(in crate::eager) type Hooks = Mutex<Vec<Hook>>;

/// The tangent of a tensor.
pub(in crate::eager) type Edge = tape::Edge<NodeBody>;

/// A recorded operation, or a leaf.
pub(in crate::eager) type Node = tape::Node<NodeBody>;

/// The data of a node.
pub(in crate::eager) struct NodeBody {
    pub kind: NodeKind,
    /// Allocated with the first hook. Few nodes have any.
    pub hooks: OnceLock<Arc<Hooks>>,
    /// Allocated for derivatives at kinks, and for operations on them.
    pub kinks: OnceBox<KinkWeights>,
    /// Allocated by a pass that reaches the node while a tensor refers to it. The gradients are
    /// untracked: a tracked one would refer to this node.
    pub gradients: OnceBox<Mutex<ResultGradients>>,
}

pub(in crate::eager) enum NodeKind {
    /// A variable. Its gradient is owned by the tensors of the variable. A differentiable gradient
    /// refers to this node, so a strong reference would be a cycle.
    Leaf { grad: Weak<Mutex<Gradient>> },
    /// An operation, with the data that `backward` needs until it is released.
    Op {
        derivative: Arc<NodeDerivative>,
        loc: Loc,
        tape: SavedState,
    },
}

/// Maximum number of unused nodes that a thread caches for reuse.
const MAX_SPARE_NODES: usize = 128;

thread_local! {
    /// Unused nodes without inputs.
    static SPARE_NODES: RefCell<Vec<UniqueNode<NodeBody>>> = const { RefCell::new(Vec::new()) };
}

/// Records an operation. `save` stores its tensors.
#[inline(always)] // every recorded operation comes here
pub(in crate::eager) fn record_node(
    inputs: SmallVec<[Edge; 2]>,
    derivative: &Arc<NodeDerivative>,
    loc: Loc,
    save: impl FnOnce(&mut SavedTensors),
) -> Shared<Node> {
    let spare = SPARE_NODES
        .try_with(|spare| spare.try_borrow_mut().ok()?.pop())
        .ok()
        .flatten();
    let mut node = match spare {
        Some(mut node) => {
            node.renew(inputs);
            node
        }
        None => {
            let kind = NodeKind::Op {
                derivative: derivative.clone(),
                loc,
                tape: SavedState::default(),
            };
            Node::new(inputs, NodeBody::new(kind))
        }
    };
    if let NodeKind::Op {
        derivative: old,
        loc: at,
        tape,
    } = &mut node.kind
    {
        if !Arc::ptr_eq(old, derivative) {
            *old = derivative.clone();
        }
        *at = loc;
        save(tape.get_mut());
    }
    node.shareable()
}

impl NodeBody {
    fn new(kind: NodeKind) -> NodeBody {
        NodeBody {
            kind,
            hooks: OnceLock::new(),
            kinks: OnceBox::new(),
            gradients: OnceBox::new(),
        }
    }

    /// A variable, and its gradient.
    pub(crate) fn leaf() -> (Edge, Grad) {
        let grad = Grad::default();
        let kind = NodeKind::Leaf {
            grad: Arc::downgrade(&grad),
        };
        let node = Node::new(SmallVec::new(), NodeBody::new(kind)).shareable();
        (Edge { node, slot: 0 }, grad)
    }

    /// The operation's name; `variable` for a leaf.
    pub(crate) fn name(&self) -> &str {
        match &self.kind {
            NodeKind::Leaf { .. } => "variable",
            NodeKind::Op { derivative, .. } => derivative.op.name(),
        }
    }

    pub(crate) fn has_hooks(&self) -> bool {
        self.hooks
            .get()
            .is_some_and(|hooks| !lock(hooks).is_empty())
    }

    pub(crate) fn hooks(&self) -> Vec<Hook> {
        self.hooks
            .get()
            .map(|hooks| lock(hooks).clone())
            .unwrap_or_default()
    }
}

/// The place of the gradient of the tensors with the tangent in a slot of a node. `None` for a
/// variable without live tensors.
pub(in crate::eager) fn gradient_place(node: &Node, slot: u32) -> Option<GradientPlace<'_>> {
    match &node.kind {
        NodeKind::Leaf { grad } => grad.upgrade().map(GradientPlace::Variable),
        NodeKind::Op { .. } => Some(GradientPlace::Result(node, slot)),
    }
}

impl NodeData for NodeBody {
    #[inline]
    fn is_leaf(&self) -> bool {
        matches!(self.kind, NodeKind::Leaf { .. })
    }

    /// Whether its saved tensors were released.
    #[inline]
    fn released(&self) -> bool {
        matches!(&self.kind, NodeKind::Op { tape, .. } if tape.released())
    }

    /// Caches the memory of a node for reuse. A shared derivative remains in it, because the next
    /// operation usually has the same one.
    #[inline]
    fn recycle(mut node: UniqueNode<NodeBody>) {
        // Its tensors are dropped before the node is cached, because their drop may record or drop
        // other nodes.
        if let NodeKind::Op { tape, .. } = &mut node.kind {
            tape.renew();
        }
        node.hooks.take();
        (node.kinks, node.gradients) = Default::default();
        if !matches!(&node.kind, NodeKind::Op { derivative, .. } if derivative.reusable) {
            return;
        }
        let _ = SPARE_NODES.try_with(|spare| {
            if let Ok(mut spare) = spare.try_borrow_mut()
                && spare.len() < MAX_SPARE_NODES
            {
                spare.push(node);
            }
        });
    }
}
