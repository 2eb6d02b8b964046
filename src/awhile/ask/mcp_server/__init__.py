"""Ask your database as an MCP server: tools, resources, and what they return."""
