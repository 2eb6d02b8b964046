"""A certified OpenID Connect provider (`oidc-provider`), with whoever one says one is."""
