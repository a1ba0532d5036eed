import type { Service } from '@robokids/runtime/service'
import { startAccessTokens } from './access-tokens.ts'
import { checkAccounts } from './account-check.ts'
import { adminRoutes } from './admin-routes.ts'
import { authRoutes } from './auth-routes.ts'
import { configSchema, type Config } from './config.ts'
import { contactRoutes } from './contact-routes.ts'
import { registerCookies } from './cookies.ts'
import { doorkeeping } from './doorkeeping.ts'
import { Identity } from './identity.ts'
import { mailLimitsOf } from './mail-limits.ts'
import { membershipRoutes } from './membership-routes.ts'
import { offerRoutes } from './offer-routes.ts'
import { offersOf } from './offers.ts'
import { pages } from './pages.ts'
import { paymentPageRoutes } from './payment-pages.ts'
import { profileRoutes } from './profile-routes.ts'
import { proofRoutes } from './proof-routes.ts'
import { proofsOf } from './proofs.ts'
import { apiRoutes } from './routes.ts'
import { References } from './references.ts'
import { securityText } from './security-text.ts'
import { shopRoutes } from './shop-routes.ts'
import { startSessions } from './session.ts'
import { connectServices } from './upstream.ts'
import { webhookRoute } from './webhook-route.ts'

/**
 * Ready while the services behind it are away: pages, files and what the other services know are served all the same, and
 * a balancer that took every BFF out because billing restarts would take the whole site down. What needs a service that
 * is away is answered 503 with `Retry-After`; a service's own `/readyz` says which one it is.
 */
export const bff: Service<Config> = {
  name: 'bff',
  config: configSchema,
  async routes(http, context) {
    const services = connectServices(context.config)
    http.addHook('onClose', () => services.close())
    await doorkeeping(http, context.config)
    await http.register(async (scope) => webhookRoute(scope, context, services))
    const { config, clock } = context
    const cookies = await registerCookies(http, config, () => clock.now().epochMilliseconds)
    const identity = new Identity(services, config)
    const accessTokens = startAccessTokens(http, context, services.identity)
    const accounts = { cookies, identity, sessions: startSessions(context, cookies, identity, accessTokens) }
    checkAccounts(http, accounts.sessions)
    const offers = offersOf(services, context)
    const references = new References(context)
    const proofs = proofsOf(context, accounts.sessions, services)
    const provenAccounts = { ...accounts, proofs, mailLimits: mailLimitsOf(context, accounts.sessions) }
    securityText(http, context)
    await http.register(async (scope) => offerRoutes(scope, offers))
    await http.register(async (scope) => proofRoutes(scope, proofs))
    await http.register(async (scope) => apiRoutes(scope, context, services, provenAccounts, references))
    await http.register(async (scope) => shopRoutes(scope, context, services, provenAccounts, references))
    await http.register(async (scope) => contactRoutes(scope, context, services, provenAccounts))
    await http.register(async (scope) => authRoutes(scope, context, provenAccounts))
    await http.register(async (scope) => profileRoutes(scope, context, accounts))
    await http.register(async (scope) => membershipRoutes(scope, context, services, provenAccounts, references))
    await http.register(async (scope) => paymentPageRoutes(scope, context, services, references))
    await http.register(async (scope) => adminRoutes(scope, context, services))
    if (context.config.WEB_DIST !== '') await pages(http, context, offers)
  },
}
