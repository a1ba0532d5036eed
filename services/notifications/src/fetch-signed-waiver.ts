import { currentTraceparent } from '@robokids/runtime/telemetry'
import type { Config } from './config.ts'

/** The signed waiver from enrollment, which keeps it. @throws where it is out of reach or does not answer with a PDF. */
export async function fetchSignedWaiver(config: Config, path: string): Promise<Buffer> {
  const traceparent = currentTraceparent()
  const answer = await fetch(new URL(path, config.ENROLLMENT_URL), {
    signal: AbortSignal.timeout(10_000),
    headers: traceparent === undefined ? {} : { traceparent },
  })
  const content = Buffer.from(await answer.arrayBuffer())
  if (!answer.ok || !content.subarray(0, 5).equals(Buffer.from('%PDF-'))) {
    throw new Error(`Enrollment answered ${answer.status} instead of the signed waiver.`)
  }
  return content
}
