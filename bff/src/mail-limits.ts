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
 * Limits to requests that have a mail sent to an address which is typed in, or once was, beside the limit of their network. Those that count by
 * mailbox are for bodies with an `email`.
 */
export interface MailLimits {
  /** By the account: what identity, which counts by networks and addresses, is not told. @throws DomainError `rate_limited` */
  ofAccount: Limit
  /** By the account, the network with what is around it, and the mailbox. @throws DomainError `rate_limited` */
  ofStockAlerts: Limit
  /** As `ofStockAlerts`, each counted apart. @throws DomainError `rate_limited` */
  ofMessages: Limit
}

export function mailLimitsOf({ config }: Pick<Context<Config>, 'config'>, sessions: Sessions): MailLimits {
  const counts = new ClientCounts()
  const { RATE_LIMIT_NOTICES, RATE_LIMIT_NOTICES_TO_MAILBOX, RATE_LIMIT_MESSAGES } = config

  function count(who: string, upTo: number): void {
    if (counts.add(who, hourMs).count <= upTo) return
    throw new DomainError('rate_limited', 'Too many requests. Please try again in an hour.')
  }

  async function countAccount(what: string, most: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { ownerId } = await sessions.ownerOf(request, reply)
    if (ownerId !== null) count(`${what} account ${ownerId}`, most)
  }

  function countPlace(what: string, most: number, mostOfMailbox: number, request: FastifyRequest): void {
    for (const { name, limitFactor } of countedNetworks(request.ip))
      count(`${what} network ${name}`, most * limitFactor)
    const { email } = request.body as { email: string }
    count(`${what} mailbox ${mailboxKey(email)}`, mostOfMailbox)
  }

  const ofAccount: Limit = (request, reply) => countAccount('mails', RATE_LIMIT_NOTICES, request, reply)
  return {
    ofAccount,
    async ofStockAlerts(request, reply) {
      await ofAccount(request, reply)
      countPlace('notices', RATE_LIMIT_NOTICES, RATE_LIMIT_NOTICES_TO_MAILBOX, request)
    },
    async ofMessages(request, reply) {
      await countAccount('messages', RATE_LIMIT_MESSAGES, request, reply)
      countPlace('messages', RATE_LIMIT_MESSAGES, RATE_LIMIT_MESSAGES, request)
    },
  }
}
