import type { onRequestHookHandler } from 'fastify'

const checks = new WeakSet<object>()

/**
 * Marks a hook that checks who sends a request. Routes use it as `onRequest`, so that unauthorized requests are rejected
 * before their body is parsed and validation errors disclose nothing.
 */
export function accessCheck(hook: onRequestHookHandler): onRequestHookHandler {
  checks.add(hook)
  return hook
}

/** Returns whether a hook was marked by `accessCheck`. */
export function isAccessCheck(hook: unknown): boolean {
  return typeof hook === 'function' && checks.has(hook)
}
