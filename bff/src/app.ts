import { familyEvents } from '@robokids/contracts/events'
import type { Service } from '@robokids/runtime/service'
import { startAccessTokens } from './access-tokens.ts'
import { checkAccounts } from './account-check.ts'
import { adminRoutes } from './admin-routes.ts'
import { authRoutes } from './auth-routes.ts'
import { changeRoutes } from './change-routes.ts'
import { configSchema, type Config } from './config.ts'
import { contactRoutes } from './contact-routes.ts'
import { registerCookies } from './cookies.ts'
import { registerRequestGuards } from './request-guards.ts'
import { dashboardRoutes } from './dashboard-routes.ts'
import { Identity } from './identity.ts'
import { StreamCounts } from './live-streams.ts'
import { createMailLimits } from './mail-limits.ts'
import { memberClassRoutes } from './member-class-routes.ts'
import { membershipRoutes } from './membership-routes.ts'
import { offerRoutes } from './offer-routes.ts'
import { createOffers, offerEvents } from './offers.ts'
import { pages } from './pages.ts'
import { paymentPageRoutes } from './payment-pages.ts'
import { profileRoutes } from './profile-routes.ts'
import { proofRoutes } from './proof-routes.ts'
import { createProofs } from './proofs.ts'
import { registrationRoutes } from './registration-routes.ts'
import { References } from './references.ts'
import { securityText } from './security-text.ts'
import { shopRoutes } from './shop-routes.ts'
import { startSessions } from './session.ts'
import { spentProofs } from './spent-proofs.ts'
import { connectServices } from './upstream.ts'
import { waitlistRoutes } from './waitlist-routes.ts'
import { webhookRoute } from './webhook-route.ts'

/**
 * Ready even while services behind it are unavailable: pages, files and the data of the other services are still served, and a
 * load balancer that removed every BFF because billing restarts would take down the whole site. Requests that need an
 * unavailable service get 503 with `Retry-After`; each service's own `/readyz` shows which one it is.
 */
export const bff: Service<Config> = {
  name: 'bff',
  isPublic: true,
  config: configSchema,
  watches: [...familyEvents, ...offerEvents],
  claims: [spentProofs],
  async routes(http, context) {
    const services = connectServices(context.config)
    await registerRequestGuards(http, context)
    await http.register(async (scope) => webhookRoute(scope, context, services))
    const { config, clock } = context
    const cookies = await registerCookies(http, config, () => clock.now().epochMilliseconds)
    const identity = new Identity(services, config)
    const accessTokens = startAccessTokens(http, context, services.identity)
    const accounts = { cookies, identity, sessions: startSessions(context, cookies, identity, accessTokens) }
    checkAccounts(http, accounts.sessions)
    const offers = createOffers(services, context)
    const references = new References(context)
    const streamCounts = new StreamCounts(config)
    const proofs = createProofs(context, accounts.sessions, services)
    const provenAccounts = { ...accounts, proofs, mailLimits: createMailLimits(context, accounts.sessions) }
    securityText(http, context)
    await http.register(async (scope) => offerRoutes(scope, offers))
    await http.register(async (scope) => proofRoutes(scope, proofs))
    await http.register(async (scope) => changeRoutes(scope, services, provenAccounts, references))
    await http.register(async (scope) =>
      registrationRoutes(scope, context, services, provenAccounts, references, streamCounts),
    )
    await http.register(async (scope) => waitlistRoutes(scope, context, services, provenAccounts, references))
    await http.register(async (scope) => shopRoutes(scope, context, services, provenAccounts, references))
    await http.register(async (scope) => contactRoutes(scope, context, services, provenAccounts))
    await http.register(async (scope) => authRoutes(scope, context, provenAccounts))
    await http.register(async (scope) => profileRoutes(scope, context, accounts))
    await http.register(async (scope) => dashboardRoutes(scope, context, services, accounts, streamCounts))
    await http.register(async (scope) => memberClassRoutes(scope, services, provenAccounts))
    await http.register(async (scope) => membershipRoutes(scope, context, services, provenAccounts, references))
    await http.register(async (scope) => paymentPageRoutes(scope, context, services, references))
    await http.register(async (scope) => adminRoutes(scope, context, services))
    if (context.config.WEB_DIST !== '') await pages(http, context, offers)
  },
}
