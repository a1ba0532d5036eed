import type { Service } from '@robokids/runtime/service'
import { adminRoutes } from './admin-routes.ts'
import { configSchema, type Config } from './config.ts'
import { doorkeeping } from './doorkeeping.ts'
import { pages } from './pages.ts'
import { apiRoutes } from './routes.ts'
import { connectServices } from './upstream.ts'
import { webhookRoute } from './webhook-route.ts'

export const bff: Service<Config> = {
  name: 'bff',
  config: configSchema,
  async routes(http, context) {
    const services = connectServices(context.config)
    http.addHook('onClose', () => services.close())
    await doorkeeping(http, context.config)
    await http.register(async (scope) => webhookRoute(scope, services))
    await http.register(async (scope) => apiRoutes(scope, context, services))
    await http.register(async (scope) => adminRoutes(scope, context, services))
    if (context.config.WEB_DIST !== '') await pages(http, context.config)
  },
}
