import { inSpan, traceHeaders } from '@robokids/runtime/trace'
import type { Config } from './config.ts'

/**
 * Fetches a signed waiver from enrollment.
 * @param limit aborts the request; enrollment has at most ten seconds.
 * @throws if enrollment is unreachable or does not respond with a PDF; a retry can help.
 */
export async function fetchSignedWaiver(config: Config, path: string, limit: AbortSignal): Promise<Buffer> {
  const response = await inSpan({ name: 'GET signed waiver', kind: 'client' }, () =>
    fetch(new URL(path, config.ENROLLMENT_URL), {
      signal: AbortSignal.any([AbortSignal.timeout(10_000), limit]),
      headers: traceHeaders(),
    }),
  )
  const content = Buffer.from(await response.arrayBuffer())
  if (!response.ok || !content.subarray(0, 5).equals(Buffer.from('%PDF-'))) {
    throw new Error(`Enrollment responded ${response.status} instead of the signed waiver.`)
  }
  return content
}
