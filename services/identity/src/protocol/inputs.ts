import { z } from 'zod'

/** Fields shared by many operations, with the protocol's lengths. */
export const clientId = z.string().min(1).max(128)
export const poolId = z.string().min(1).max(55)
/** No spaces: a leading one must not make another username of an address. */
export const username = z
  .string()
  .min(1)
  .max(254)
  .regex(/^[\p{L}\p{M}\p{S}\p{N}\p{P}]+$/u)
/** The password policy checks the rules. */
export const password = z.string().min(1).max(1024)
export const code = z.string().min(1).max(2048)
export const accessToken = z.string().min(1).max(16_384)
export const session = z.string().min(20).max(2048)
export const secretHash = z.string().max(128).optional()
/** Challenge responses and auth parameters by name. */
export const parameters = z.record(z.string().max(131_072), z.string().max(131_072)).default({})
export const pageSize = z.number().int().min(1).max(60)
export const pageToken = z.string().min(1).max(1024).optional()
export const attributeName = z.string().min(1).max(32)
export const refreshToken = z.string().min(1).max(16_384)
export const deviceKey = z.string().min(1).max(55)
export const groupName = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[\p{L}\p{M}\p{S}\p{N}\p{P}]+$/u)
/** The account that an administrator names. */
export const named = z.object({ UserPoolId: poolId, Username: username })
