import { useEffect, useState } from 'react'

/** Often enough for texts that change by the minute. */
const tickMs = 5_000

/**
 * The time by the server's clock: a device's own may be hours off, and a link opens by the server's.
 * @param asked the server's time when it answered, and this device's when the answer arrived.
 */
export function useServerNow({ serverTime, arrivedAt }: { serverTime: string; arrivedAt: number }): number {
  const aheadBy = Date.parse(serverTime) - arrivedAt
  const [time, setTime] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setTime(Date.now()), tickMs)
    return () => clearInterval(timer)
  }, [])
  return Math.max(time, arrivedAt) + aheadBy
}
