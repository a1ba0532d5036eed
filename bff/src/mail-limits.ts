import { mailboxKey } from '@robokids/contracts/fields'
import { ClientCounts } from '@robokids/runtime/client-counts'
import { DomainError } from '@robokids/runtime/errors'
import { countedNetworks } from '@robokids/runtime/network-address'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from './config.ts'
import type { Sessions } from './session.ts'

const hourMs = 3_600_000

type Limit = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/**
 * Limits for requests that send a mail to a typed email, in addition to the limit per network. Those that count per mailbox are
 * for bodies with an `email`.
 */
export interface MailLimits {
  /** Per account, which identity (it counts per network and email) does not know. @throws DomainError `rate_limited` */
  ofAccount: Limit
  /** Per choice that the school gives, for anyone who has its link. @throws DomainError `rate_limited` */
  ofChoice: Limit
  /** Per account, network (and the block around it) and mailbox. @throws DomainError `rate_limited` */
  ofStockAlerts: Limit
  /** As `ofStockAlerts`, with its own counts. @throws DomainError `rate_limited` */
  ofMessages: Limit
  /** As `ofStockAlerts`, with the same limits and its own counts. @throws DomainError `rate_limited` */
  ofWaitlist: Limit
}

export function createMailLimits(context: Pick<Context<Config>, 'bus' | 'config'>, sessions: Sessions): MailLimits {
  const counts = new ClientCounts('mails', context)
  const { RATE_LIMIT_NOTICES, RATE_LIMIT_NOTICES_TO_MAILBOX, RATE_LIMIT_MESSAGES } = context.config

  function count(who: string, upTo: number): void {
    if (counts.add(who, hourMs).count <= upTo) return
    throw new DomainError('rate_limited', 'Too many requests. Please try again in an hour.')
  }

  async function countAccount(what: string, max: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { ownerId } = await sessions.ownerOf(request, reply)
    if (ownerId !== null) count(`${what} account ${ownerId}`, max)
  }

  function countNetworkAndMailbox(what: string, max: number, maxPerMailbox: number, request: FastifyRequest): void {
    for (const { name, limitFactor } of countedNetworks(request.ip)) count(`${what} network ${name}`, max * limitFactor)
    const { email } = request.body as { email: string }
    count(`${what} mailbox ${mailboxKey(email)}`, maxPerMailbox)
  }

  const ofAccount: Limit = (request, reply) => countAccount('mails', RATE_LIMIT_NOTICES, request, reply)
  return {
    ofAccount,
    async ofChoice({ params }) {
      count(`choice ${(params as { reference: string }).reference.toLowerCase()}`, RATE_LIMIT_NOTICES)
    },
    async ofStockAlerts(request, reply) {
      await ofAccount(request, reply)
      countNetworkAndMailbox('notices', RATE_LIMIT_NOTICES, RATE_LIMIT_NOTICES_TO_MAILBOX, request)
    },
    async ofWaitlist(request, reply) {
      await countAccount('waitlist', RATE_LIMIT_NOTICES, request, reply)
      countNetworkAndMailbox('waitlist', RATE_LIMIT_NOTICES, RATE_LIMIT_NOTICES_TO_MAILBOX, request)
    },
    async ofMessages(request, reply) {
      await countAccount('messages', RATE_LIMIT_MESSAGES, request, reply)
      countNetworkAndMailbox('messages', RATE_LIMIT_MESSAGES, RATE_LIMIT_MESSAGES, request)
    },
  }
}
