//! Values, nodes of the tape, and the edges between them.

use super::saved::{NodeDerivative, SavedState, SavedTensors};
use crate::eager::error::Result;
use crate::eager::ids::next_ids;
use crate::eager::kinks::weights::{KinkWeights, WeightNodes};
use crate::eager::turns::lock;
use crate::tensor::Given;
use cotangent_core::{Array, DType, Loc, Scalar, Type};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use triomphe::UniqueArc;

/// A reference count without weak references: a single load tells whether a node is shared.
pub(in crate::eager) use triomphe::Arc as Shared;

/// A tensor, its memory order, and its tangent in the tape if it is tracked.
#[derive(Clone)]
pub(in crate::eager) struct Value {
    pub tensor: cotangent_cpu::Tensor,
    /// The type of the tensor, computed on first use by a rule. Most values need none.
    pub ty: OnceLock<Box<Type>>,
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
            ty: OnceLock::new(),
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

/// A number as a scalar tensor.
pub(in crate::eager) fn number(dtype: DType, c: f64) -> cotangent_cpu::Tensor {
    match dtype {
        DType::F64 => Array::scalar(c),
        DType::F32 => Array::scalar(c as f32),
        dtype => Scalar::F(c).array(dtype),
    }
    .into()
}

/// The accumulated gradient of a variable.
#[derive(Default)]
pub(in crate::eager) struct Gradient {
    pub value: Option<Value>,
    /// Number of changes.
    pub version: u64,
}

/// A gradient, shared by the tensors that are the variable.
pub(in crate::eager) type Grad = Arc<Mutex<Gradient>>;

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

/// Number of node ids that a thread reserves at a time.
const NODE_ID_BLOCK: u64 = 4096;

thread_local! {
    /// The ids of the next nodes of this thread: the next id, and the end of the reserved block.
    static NODE_IDS: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// An id for a node with these inputs. It is greater than theirs, even if other threads recorded
/// them.
fn node_id(inputs: &[Edge]) -> u64 {
    let (mut next, mut end) = NODE_IDS.get();
    if next == end || inputs.iter().any(|e| e.node.id >= next) {
        next = next_ids(NODE_ID_BLOCK);
        end = next + NODE_ID_BLOCK;
    }
    NODE_IDS.set((next + 1, end));
    next
}

/// A linear value of a node: the tangent of a tensor.
#[derive(Clone)]
pub(in crate::eager) struct Edge {
    pub node: Shared<Node>,
    pub slot: u32,
}

impl Edge {
    /// The tangent in a slot of a node. If it is the tangent of an operand, that operand's edge is
    /// returned.
    pub(crate) fn of(node: Shared<Node>, slot: u32) -> Edge {
        match node.inputs.get(slot as usize) {
            Some(e) => e.clone(),
            None => Edge { node, slot },
        }
    }

    /// Node id and slot, unique in the process.
    pub(crate) fn key(&self) -> (u64, u32) {
        (self.node.id, self.slot)
    }
}

/// A recorded operation, or a leaf.
pub(in crate::eager) struct Node {
    /// Ascends in order of recording.
    pub id: u64,
    /// The tangents of its tracked operands: the inputs of its program, in order.
    pub inputs: SmallVec<[Edge; 2]>,
    pub kind: NodeKind,
    pub mark: Mark,
    /// Allocated with the first hook. Few nodes have any.
    pub hooks: OnceLock<Arc<Hooks>>,
    /// Allocated for derivatives at kinks, and for operations on them.
    pub kinks: OnceLock<Box<KinkWeights>>,
}

/// The mark of a traversal on a node: the id of the traversal, and the node's index in it.
#[derive(Default)]
pub(in crate::eager) struct Mark(AtomicU64, AtomicU32);

impl Mark {
    /// The node's index in this traversal, if it was visited.
    pub(crate) fn find(&self, walk: u64) -> Option<u32> {
        (self.0.load(Ordering::Relaxed) == walk).then(|| self.1.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, walk: u64, index: u32) {
        self.0.store(walk, Ordering::Relaxed);
        self.1.store(index, Ordering::Relaxed);
    }
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
    static SPARE_NODES: RefCell<Vec<UniqueArc<Node>>> = const { RefCell::new(Vec::new()) };
}

/// Caches the memory of a node without inputs for reuse. A shared derivative remains in it, because
/// the next operation usually has the same one.
fn keep_spare(node: UniqueArc<Node>) {
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

impl Node {
    /// Records an operation. `save` stores its tensors.
    #[inline(always)] // every recorded operation comes here
    pub(crate) fn operation(
        inputs: SmallVec<[Edge; 2]>,
        derivative: &Arc<NodeDerivative>,
        loc: Loc,
        save: impl FnOnce(&mut SavedTensors),
    ) -> Shared<Node> {
        let id = node_id(&inputs);
        let spare = SPARE_NODES
            .try_with(|spare| spare.try_borrow_mut().ok()?.pop())
            .ok()
            .flatten();
        let mut node = spare.unwrap_or_else(|| {
            let kind = NodeKind::Op {
                derivative: derivative.clone(),
                loc,
                tape: SavedState::default(),
            };
            UniqueArc::new(Node {
                id,
                inputs: SmallVec::new(),
                kind,
                mark: Mark::default(),
                hooks: OnceLock::new(),
                kinks: OnceLock::new(),
            })
        });
        let new = &mut *node;
        (new.id, new.inputs) = (id, inputs);
        if let NodeKind::Op {
            derivative: old,
            loc: at,
            tape,
        } = &mut new.kind
        {
            if !Arc::ptr_eq(old, derivative) {
                *old = derivative.clone();
            }
            *at = loc;
            save(tape.get_mut());
        }
        node.shareable()
    }

    /// A variable, and its gradient.
    pub(crate) fn leaf() -> (Edge, Grad) {
        let (id, grad) = (node_id(&[]), Grad::default());
        let kind = NodeKind::Leaf {
            grad: Arc::downgrade(&grad),
        };
        let node = Node {
            id,
            inputs: SmallVec::new(),
            kind,
            mark: Mark::default(),
            hooks: OnceLock::new(),
            kinks: OnceLock::new(),
        };
        (
            Edge {
                node: Shared::new(node),
                slot: 0,
            },
            grad,
        )
    }

    pub(crate) fn is_leaf(&self) -> bool {
        matches!(self.kind, NodeKind::Leaf { .. })
    }

    /// The operation's name; `variable` for a leaf.
    pub(crate) fn name(&self) -> &str {
        match &self.kind {
            NodeKind::Leaf { .. } => "variable",
            NodeKind::Op { derivative, .. } => derivative.op.name(),
        }
    }

    /// Whether its saved tensors were released.
    pub(crate) fn released(&self) -> bool {
        matches!(&self.kind, NodeKind::Op { tape, .. } if tape.released())
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

    /// Moves the nodes that this one refers to onto a stack.
    fn unlink(&mut self, stack: &mut Vec<Shared<Node>>) {
        stack.extend(self.inputs.drain(..).map(|e| e.node));
    }
}

impl Drop for Node {
    /// Drops a chain of nodes in a loop, without recursion.
    fn drop(&mut self) {
        let mut stack = Vec::new();
        self.unlink(&mut stack);
        while let Some(node) = stack.pop() {
            // A node with other references, usually a variable, costs one load. If two threads drop
            // the last two references concurrently, one of them gets the node.
            let last = Shared::try_unique(node).map_or_else(Shared::into_unique, Some);
            if let Some(mut node) = last {
                node.unlink(&mut stack);
                // Its tensors are dropped before the node is cached, because their drop may record
                // or drop other nodes.
                if let NodeKind::Op { tape, .. } = &mut node.kind {
                    tape.renew();
                }
                node.hooks.take();
                node.kinks.take();
                keep_spare(node);
            }
        }
    }
}
