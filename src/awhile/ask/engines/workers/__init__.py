"""Running queries in processes that can be killed: one pool, and a session of each engine's own.

`messages` is what travels, `serving` the child's end and `pool` the parent's; `engine` is the part
of an `Engine` that all who run their queries so have in common.
"""
