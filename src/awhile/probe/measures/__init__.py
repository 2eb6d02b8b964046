"""What the probe does at a server, as evidence; nothing here says whether that is good."""
