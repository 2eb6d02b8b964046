"""Who somebody is, as an issuer of tokens says it; loaded only where callers have to show one."""
