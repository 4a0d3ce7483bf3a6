//! The networks as burn modules, composed or fused.
