"""The page: a browser's sessions and its one event stream, over an MCP client."""

from awhile.ask.web.app import create_app, serve_page

__all__ = ["create_app", "serve_page"]
