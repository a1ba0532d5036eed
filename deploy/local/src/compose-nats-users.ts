import { allEvents, streams } from '@robokids/contracts/events'
import { handlerName } from '@robokids/runtime/inbox'
import { claimsStream, claimsSubject, copiesSubject, operatorUser } from '@robokids/runtime/streams'
import { applications, type ServiceName } from './services.ts'

/** The users of the broker: one per process, and the operator. */
export const natsUsers = [...(Object.keys(applications) as ServiceName[]), operatorUser]

/** The variable of nats-server's environment with a user's password: `NATS_PASSWORD_BILLING`. */
export const natsPasswordVariable = (user: string) => `NATS_PASSWORD_${user.toUpperCase()}`

/** The subjects that a process publishes to and subscribes to, and no others. */
async function rightsOf(name: ServiceName): Promise<{ publish: string[]; subscribe: string[] }> {
  const { consumers = [], watches = [], claims = [] } = await applications[name].load()
  const published = allEvents.filter(({ producer }) => producer === name).map(({ type }) => type)
  // It creates what is missing, but cannot change or delete a stream: one with another's subjects, or sources, would leak them.
  const own = streams().filter(({ producer }) => producer === name)
  const ensured = own.flatMap(({ name: stream }) => [
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.STREAM.CREATE.${stream}`,
  ])
  const consumed = consumers.flatMap(({ definition }) => {
    const durable = `${definition.stream}.${handlerName(name, definition)}`
    return [
      `$JS.API.CONSUMER.INFO.${durable}`,
      // Named with its filter, so that the durable can be created for this subject alone.
      `$JS.API.CONSUMER.CREATE.${durable}.${definition.type}`,
      `$JS.API.CONSUMER.MSG.NEXT.${durable}`,
      `$JS.ACK.${durable}.>`,
    ]
  })
  const claimed = claims.flatMap((one) => [
    claimsSubject(name, one, '*'),
    `$JS.API.STREAM.CREATE.${claimsStream(name, one)}`,
  ])
  const copies = copiesSubject(name, '*')
  return {
    publish: [...published, ...ensured, ...consumed, ...claimed, copies],
    subscribe: [`_INBOX.${name}.>`, copies, ...new Set(watches.map(({ type }) => type))],
  }
}

const list = (subjects: string[]) =>
  subjects.length === 0
    ? '{ deny: ">" }'
    : `{ allow: [\n${subjects.map((subject) => `          "${subject}"`).join('\n')}\n        ] }`

async function composeUser(user: string): Promise<string> {
  const credentials = `      user: ${user}\n      password: $${natsPasswordVariable(user)}`
  // Without permissions a user may do everything.
  if (user === operatorUser) return `    {\n${credentials}\n    }`
  const { publish, subscribe } = await rightsOf(user as ServiceName)
  return `    {
${credentials}
      permissions: {
        publish: ${list(publish)}
        subscribe: ${list(subscribe)}
      }
    }`
}

/** Returns the part of nats-server's configuration that says who may do what (https://docs.nats.io/running-a-nats-service/configuration/securing_nats/authorization). */
export async function composeNatsUsers(): Promise<string> {
  const users: string[] = []
  for (const user of natsUsers) users.push(await composeUser(user))
  return `# Who may publish and consume what at the broker. Written by \`npm run access-rules\` from the events and consumers in the code.
# The passwords come from the environment of nats-server. It parses them as part of this file, where an empty one admits anybody:
# start.sh checks and quotes them.
authorization {
  users: [
${users.join('\n')}
  ]
}
`
}
