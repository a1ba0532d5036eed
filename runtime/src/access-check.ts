import type { onRequestHookHandler } from 'fastify'

/** What a request proves its right with. */
export type AccessScheme = 'adminSecret' | 'session'

const schemes = new WeakMap<object, AccessScheme>()

/**
 * Marks a hook that checks who sends a request. Routes use it as `onRequest`, so that unauthorized requests are rejected
 * before their body is parsed and validation errors disclose nothing.
 */
export function accessCheck(scheme: AccessScheme, hook: onRequestHookHandler): onRequestHookHandler {
  schemes.set(hook, scheme)
  return hook
}

/** Returns the scheme of a hook that was marked by `accessCheck`, otherwise undefined. */
export function accessSchemeOf(hook: unknown): AccessScheme | undefined {
  return typeof hook === 'function' ? schemes.get(hook) : undefined
}

/** Returns whether a hook was marked by `accessCheck`. */
export const isAccessCheck = (hook: unknown): boolean => accessSchemeOf(hook) !== undefined
