"""The server side: the rooms that know the SDK's server, and nothing else of it leaks out."""

from awhile.server.sdk import check_sdk

check_sdk()
