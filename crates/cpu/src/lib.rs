//! Placeholder of the first commit; see ARCHITECTURE.md for what goes here.
