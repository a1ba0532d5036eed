import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A proxy in front of a local server that simulates network faults. */
export interface BreakableProxy {
  port: number
  /** Resets all connections. */
  reset(): void
  /** Drops all data in both directions without closing. Later connections stall too. */
  stall(): void
  /** Forwards data again; what was sent in between is lost. */
  resume(): void
  /** Refuses new connections, and resets the existing ones. */
  refuse(): Promise<void>
  accept(): Promise<void>
  /** Connects new clients to another server, like an address after a failover. */
  lead(targetPort: number): void
  /**
   * Calls `see` with each chunk that clients send; if it returns true, the connection is closed instead of forwarding
   * it.
   */
  intercept(see: ((sent: Buffer) => boolean) | undefined): void
  stop(): Promise<void>
}

export async function breakableProxy(firstTarget: number): Promise<BreakableProxy> {
  let targetPort = firstTarget
  const pairs = new Set<[Socket, Socket]>()
  let stalled = false
  let intercepting: ((sent: Buffer) => boolean) | undefined
  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1')
    const pair: [Socket, Socket] = [client, target]
    pairs.add(pair)
    client.on('data', (sent: Buffer) => {
      if (intercepting?.(sent)) {
        client.end()
        target.destroy()
      } else if (!stalled) target.write(sent)
    })
    target.on('data', (sent: Buffer) => {
      if (!stalled) client.write(sent)
    })
    for (const socket of pair) socket.on('error', () => {})
    client.on('close', () => {
      pairs.delete(pair)
      target.destroy()
    })
    target.on('close', () => {
      if (!stalled) client.end()
    })
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const [client] of pairs) client.resetAndDestroy()
    })
  await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    port,
    reset() {
      for (const [client, target] of pairs) {
        client.resetAndDestroy()
        target.destroy()
      }
    },
    stall() {
      stalled = true
    },
    resume() {
      stalled = false
    },
    refuse: close,
    accept: () => listen(port),
    lead(to) {
      targetPort = to
    },
    intercept(see) {
      intercepting = see
    },
    async stop() {
      if (server.listening) await close()
    },
  }
}
