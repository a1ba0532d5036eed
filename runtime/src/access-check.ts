import type { onRequestHookHandler } from 'fastify'

const checks = new WeakSet<object>()

/**
 * Marks a hook that asks who a request comes from. A route has it as its `onRequest`: strangers are told that they are
 * strangers before anything of their request is read, and learn nothing of what a right one looks like.
 */
export function accessCheck(hook: onRequestHookHandler): onRequestHookHandler {
  checks.add(hook)
  return hook
}

/** Whether something is a hook that `accessCheck` has marked. */
export function isAccessCheck(hook: unknown): boolean {
  return typeof hook === 'function' && checks.has(hook)
}
