// Whoever types a name is that person: the provider's own forms for development, which check nothing.
import { createServer } from 'node:http'

import { Provider } from 'oidc-provider'

const setup = JSON.parse(process.argv[2])
const issuer = `http://localhost:${setup.port}`

const named = (id) => id[0].toUpperCase() + id.slice(1)

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'page',
      client_secret: setup.client_secret,
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: [`${setup.page_url}/signed-in`],
      post_logout_redirect_uris: [`${setup.page_url}/signed-out`],
    },
  ],
  claims: { profile: ['name'] },
  conformIdTokenClaims: false, // the name is in the ID token, as at most providers
  cookies: { keys: ['only for tests'] },
  features: {
    devInteractions: { enabled: true },
    revocation: { enabled: true },
    rpInitiatedLogout: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_ctx, resource) => ({
        scope: 'ask',
        audience: resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: setup.access_seconds,
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
  findAccount: (_ctx, id) => ({
    accountId: id,
    claims: () => ({ sub: id, name: named(id) }),
  }),
  extraTokenClaims: (_ctx, token) => ({ name: named(token.accountId) }), // as many providers do
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  // Nobody is asked whether the page may: there is only one.
  async loadExistingGrant(ctx) {
    const grant = new ctx.oidc.provider.Grant({
      clientId: ctx.oidc.client.clientId,
      accountId: ctx.oidc.session.accountId,
    })
    grant.addOIDCScope('openid profile offline_access')
    grant.addResourceScope(setup.resource, 'ask')
    await grant.save()
    return grant
  },
})

createServer(provider.callback()).listen(setup.port, '127.0.0.1', () => console.log(issuer))
process.stdin.on('end', () => process.exit(0))
process.stdin.resume()
