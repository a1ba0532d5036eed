import { z } from 'zod'

/** `GET /admin/system` (administrators): identifies the process, so that they know which system a command would affect. */
export const systemSchema = z.object({
  /** The name of the system, the same for all of its processes. */
  system: z.string(),
  environment: z.enum(['local', 'production']),
  /** `billing`, `bff`, … */
  process: z.string(),
})
export type SystemIdentity = z.infer<typeof systemSchema>
