"""SQ(d) load balancing with attained service time: policies, cavity fixed point, finite-N simulation."""
