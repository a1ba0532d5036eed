import { mailboxKey } from '@robokids/contracts/fields'
import { ClientCounts } from '@robokids/runtime/client-counts'
import { DomainError } from '@robokids/runtime/errors'
import { countedNetworks } from '@robokids/runtime/network-address'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from './config.ts'
import type { Sessions } from './session.ts'

const hourMs = 3_600_000

/** Limits to what has mails sent to any address that is typed in, beside that of its network. For routes with an `email`. */
export interface MailLimits {
  /** By the account: what identity, which counts by networks and addresses, is not told. @throws DomainError `rate_limited` */
  ofAccount: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  /** By the account, the network with what is around it, and the mailbox. @throws DomainError `rate_limited` */
  ofNotices: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

export function mailLimitsOf({ config }: Pick<Context<Config>, 'config'>, sessions: Sessions): MailLimits {
  const counts = new ClientCounts()
  const { RATE_LIMIT_NOTICES: most, RATE_LIMIT_NOTICES_TO_MAILBOX: mostToMailbox } = config

  function count(who: string, upTo: number): void {
    if (counts.add(who, hourMs).count <= upTo) return
    throw new DomainError('rate_limited', 'Too many requests. Please try again in an hour.')
  }

  const limits: MailLimits = {
    async ofAccount(request, reply) {
      const { ownerId } = await sessions.ownerOf(request, reply)
      if (ownerId !== null) count(`account ${ownerId}`, most)
    },
    async ofNotices(request, reply) {
      await limits.ofAccount(request, reply)
      for (const { name, times } of countedNetworks(request.ip)) count(`network ${name}`, most * times)
      const { email } = request.body as { email: string }
      count(`mailbox ${mailboxKey(email)}`, mostToMailbox)
    },
  }
  return limits
}
