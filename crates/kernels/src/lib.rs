//! CPU arithmetic: matrix products, fused layers with their gradients, optimiser updates.
