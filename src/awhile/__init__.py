"""Durable, honest, stoppable long work for MCP servers and clients."""
