import { useEffect, useState } from 'react'
import { secondsFromMs } from './card-state.ts'

/** Often enough for texts that change by the minute, and for a link that opens. */
const tickMs = 5_000

/**
 * The time by the server's clock: a device's own may be hours off, and a link opens by the server's.
 * @param aheadByMs how far it was ahead of this device's clock.
 * @param deadlines returns the times that countdowns run to, which are shown by the second at the end.
 */
export function useServerNow(aheadByMs: number, deadlines: (now: number) => readonly number[]): number {
  const [time, setTime] = useState(() => Date.now())
  const now = time + aheadByMs
  const isClose = deadlines(now).some((deadline) => deadline > now && deadline - now <= secondsFromMs + tickMs)
  useEffect(() => {
    const timer = setInterval(() => setTime(Date.now()), isClose ? 1_000 : tickMs)
    return () => clearInterval(timer)
  }, [isClose])
  return now
}
