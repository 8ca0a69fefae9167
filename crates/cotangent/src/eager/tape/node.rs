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

/// A count of references without a second one for weak ones: whether a node has another is a load.
pub(in crate::eager) use triomphe::Arc as Shared;

/// A tensor, the order that users gave what it was computed from, and its tangent in the tape if it
/// is tracked.
#[derive(Clone)]
pub(in crate::eager) struct Value {
    pub tensor: cotangent_cpu::Tensor,
    /// The tensor's, once a rule has asked: most are never asked.
    pub ty: OnceLock<Box<Type>>,
    pub given: Given,
    pub edge: Option<Edge>,
    /// The record of a derivative at kinks: most values are none.
    pub sides: Option<Box<Sides>>,
}

/// A value that derivatives at kinks were computed in.
#[derive(Clone, Default)]
pub(in crate::eager) struct Sides {
    /// Its value on one side of the kinks, where that is another one: operations on it are
    /// differentiated there.
    pub twin: Option<cotangent_cpu::Tensor>,
    /// The nodes of the values that weights were found by, if it is no longer in the tape itself.
    pub weights: Option<WeightNodes>,
}

impl Value {
    /// A value that tracks no gradient.
    pub fn new(tensor: cotangent_cpu::Tensor, given: Given) -> Value {
        Value {
            tensor,
            ty: OnceLock::new(),
            given,
            edge: None,
            sides: None,
        }
    }

    /// Element type and shape.
    pub fn ty(&self) -> &Type {
        self.ty.get_or_init(|| Box::new(self.tensor.ty()))
    }

    pub fn rank(&self) -> usize {
        self.tensor.shape().len()
    }
}

/// What one operation takes, owned: what nobody else refers to may be written over.
pub(in crate::eager) type Inputs = SmallVec<[Value; 2]>;

/// What one operation gives.
pub(in crate::eager) type Values = SmallVec<[Value; 1]>;

/// What the results of an operation on these say of their order.
pub(in crate::eager) fn given_by<'v>(x: impl Iterator<Item = &'v Value>) -> Given {
    Given::of_results(x.map(|v| v.given))
}

/// A number as a tensor of rank 0.
pub(in crate::eager) fn number(dtype: DType, c: f64) -> cotangent_cpu::Tensor {
    match dtype {
        DType::F64 => Array::scalar(c),
        DType::F32 => Array::scalar(c as f32),
        dtype => Scalar::F(c).array(dtype),
    }
    .into()
}

/// The gradient of a variable so far.
#[derive(Default)]
pub(in crate::eager) struct Gradient {
    pub value: Option<Value>,
    /// How often it changed.
    pub version: u64,
}

/// A gradient, shared by the tensors that are the variable.
pub(in crate::eager) type Grad = Arc<Mutex<Gradient>>;

impl Gradient {
    /// Takes it out; whoever asked lets go of it when the lock is free, as it may hold the last
    /// reference to a tape.
    #[must_use]
    pub fn take(&mut self) -> Option<Value> {
        self.version += 1;
        self.value.take()
    }
}

/// Looks at a cotangent, and may replace it.
pub(in crate::eager) type HookFn = Arc<dyn Fn(&Value) -> Result<Option<Value>> + Send + Sync>;

/// A hook of a tensor: its slot, the order in which its elements are listed, and what is called.
#[derive(Clone)]
pub(in crate::eager) struct Hook {
    pub id: u64,
    pub slot: u32,
    pub given: Given,
    pub call: HookFn,
}

/// The hooks of a node.
pub(in crate::eager) type Hooks = Mutex<Vec<Hook>>;

const NODE_ID_BLOCK: u64 = 4096;

thread_local! {
    /// The numbers of the nodes that this thread records next.
    static NODE_IDS: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// A number for a node with these inputs: greater than theirs, which other threads may have
/// recorded.
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
    /// The tangent in a slot of a node. One that is an operand's own stays that: nothing is to be
    /// done in between.
    pub fn of(node: Shared<Node>, slot: u32) -> Edge {
        match node.inputs.get(slot as usize) {
            Some(e) => e.clone(),
            None => Edge { node, slot },
        }
    }

    /// Unique for as long as the process lives.
    pub fn key(&self) -> (u64, u32) {
        (self.node.id, self.slot)
    }
}

/// A recorded operation, or a leaf.
pub(in crate::eager) struct Node {
    /// Later nodes have greater ones.
    pub id: u64,
    /// Where the tangents of its operands come from: the inputs of its program, in order.
    pub inputs: SmallVec<[Edge; 2]>,
    pub kind: NodeKind,
    pub mark: Mark,
    /// Made for the first one: few nodes have any.
    pub hooks: OnceLock<Arc<Hooks>>,
    /// Made for derivatives at kinks, and what they are operands of.
    pub kinks: OnceLock<Box<KinkWeights>>,
}

/// What a walk over the tape writes on a node: the number of the walk, and the node's index in it.
#[derive(Default)]
pub(in crate::eager) struct Mark(AtomicU64, AtomicU32);

impl Mark {
    /// The index in this walk, if it was here.
    pub fn find(&self, walk: u64) -> Option<u32> {
        (self.0.load(Ordering::Relaxed) == walk).then(|| self.1.load(Ordering::Relaxed))
    }

    pub fn set(&self, walk: u64, index: u32) {
        self.0.store(walk, Ordering::Relaxed);
        self.1.store(index, Ordering::Relaxed);
    }
}

pub(in crate::eager) enum NodeKind {
    /// A variable. Its gradient belongs to the tensors that are the variable: it may refer to this
    /// node, as one that can be differentiated does, and would keep it for ever.
    Leaf { grad: Weak<Mutex<Gradient>> },
    /// An operation: what `backward` needs, until it is released.
    Op {
        derivative: Arc<NodeDerivative>,
        loc: Loc,
        tape: SavedState,
    },
}

/// How many nodes a thread keeps for those that it records next.
const MAX_SPARE_NODES: usize = 128;

thread_local! {
    /// Nodes that nothing refers to and that refer to no other.
    static SPARE_NODES: RefCell<Vec<UniqueArc<Node>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the memory of a recorded operation that refers to no other node. A derivative that others
/// use, too, stays: that of the next operation is most often the same.
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
    /// Records an operation: `save` fills its tape.
    pub fn operation(
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
    pub fn leaf() -> (Edge, Grad) {
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

    pub fn is_leaf(&self) -> bool {
        matches!(self.kind, NodeKind::Leaf { .. })
    }

    /// The operation's name; for a leaf what it is.
    pub fn name(&self) -> &str {
        match &self.kind {
            NodeKind::Leaf { .. } => "variable",
            NodeKind::Op { derivative, .. } => derivative.op.name(),
        }
    }

    /// Whether `backward` can pass, without releasing anything.
    pub fn released(&self) -> bool {
        matches!(&self.kind, NodeKind::Op { tape, .. } if tape.released())
    }

    pub fn has_hooks(&self) -> bool {
        self.hooks
            .get()
            .is_some_and(|hooks| !lock(hooks).is_empty())
    }

    pub fn hooks(&self) -> Vec<Hook> {
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
    /// A loop, however long the chain of nodes.
    fn drop(&mut self) {
        let mut stack = Vec::new();
        self.unlink(&mut stack);
        while let Some(node) = stack.pop() {
            // A variable, most often, that others refer to: then this is one load. Or two threads
            // let go at once, and one of them goes on.
            let last = Shared::try_unique(node).map_or_else(Shared::into_unique, Some);
            if let Some(mut node) = last {
                node.unlink(&mut stack);
                // What it held goes now: that may be the last reference to something that records,
                // too.
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
