import { currentTraceparent } from '@robokids/runtime/telemetry'
import type { Config } from './config.ts'

/**
 * The signed waiver from enrollment, which keeps it.
 * @param limit ends it; within it, enrollment has ten seconds.
 * @throws where it is out of reach or does not answer with a PDF: worth trying again.
 */
export async function fetchSignedWaiver(config: Config, path: string, limit: AbortSignal): Promise<Buffer> {
  const traceparent = currentTraceparent()
  const answer = await fetch(new URL(path, config.ENROLLMENT_URL), {
    signal: AbortSignal.any([AbortSignal.timeout(10_000), limit]),
    headers: traceparent === undefined ? {} : { traceparent },
  })
  const content = Buffer.from(await answer.arrayBuffer())
  if (!answer.ok || !content.subarray(0, 5).equals(Buffer.from('%PDF-'))) {
    throw new Error(`Enrollment answered ${answer.status} instead of the signed waiver.`)
  }
  return content
}
