import { connectBus, type Bus } from '@robokids/runtime/bus'
import { localNatsPassword } from '@robokids/runtime/config'
import { operatorUser } from '@robokids/runtime/streams'
import { createLogger } from '@robokids/runtime/telemetry'

/** Connects to a test's broker as its operator, who may publish and watch everything, and ensures all streams. */
export function connectAsOperator(nats: { url: string; password?: string }, name: string): Promise<Bus> {
  return connectBus({
    url: nats.url,
    user: operatorUser,
    password: nats.password ?? localNatsPassword,
    name,
    limits: { replicas: 1, days: 30, megabytes: 16 },
    ackWaitMs: 30_000,
    log: createLogger(name, 'silent'),
  })
}
