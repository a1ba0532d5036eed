import { z } from 'zod'

/** What a process says of itself to administrators, at `GET /admin/system`: whom they are about to give an order. */
export const systemSchema = z.object({
  /** The system that it is a part of, by the name that all of its processes have. */
  system: z.string(),
  environment: z.enum(['local', 'production']),
  /** `billing`, `bff`, … */
  process: z.string(),
})
export type SystemIdentity = z.infer<typeof systemSchema>
