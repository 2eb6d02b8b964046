"""A real 2025-11-25 task server, on the official TypeScript SDK 1.30.0."""
