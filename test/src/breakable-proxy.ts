import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A proxy in front of a server on this machine, which breaks connections in the ways that networks do. */
export interface BreakableProxy {
  port: number
  /** Ends all connections at once, without a farewell. */
  reset(): void
  /** Nothing passes any more in either direction, and nobody is told. Connections made later are silent too. */
  stall(): void
  /** What is sent from now on passes again; what was sent meanwhile is lost. */
  resume(): void
  /** Takes no connections for a while; those there are, are reset. */
  refuse(): Promise<void>
  accept(): Promise<void>
  /** Connections made from now on lead to another server, as an address does after a fail-over. */
  lead(targetPort: number): void
  /** Calls `see` with what clients send; where it says true, the connection ends instead of passing that on. */
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
