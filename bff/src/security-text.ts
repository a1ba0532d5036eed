import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'

/** `/.well-known/security.txt` (RFC 9116): the contact for security reports. */
export function securityText(http: Http, { config, clock }: Context<Config>): void {
  http.get('/.well-known/security.txt', async (_request, reply) => {
    const lines = {
      Contact: `mailto:${config.SECURITY_EMAIL}`,
      // Should be less than a year away.
      Expires: clock.now().add({ hours: 4_320 }).round('second').toString(),
      'Preferred-Languages': 'en',
      Canonical: `${config.SITE_URL}/.well-known/security.txt`,
    }
    const text = Object.entries(lines).map(([name, value]) => `${name}: ${value}\n`)
    return reply.type('text/plain; charset=utf-8').header('cache-control', 'max-age=3600').send(text.join(''))
  })
}
