/**
 * Imports what a form needs when it is sent. If the server responds but the file is missing, a new version was deployed: the
 * page is reloaded, and restores what was typed.
 */
export async function importOrReload<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const reached = await fetch(window.location.href, { method: 'HEAD' }).catch(() => undefined)
    if (!reached?.ok) throw error
    window.location.reload()
    return new Promise(() => undefined)
  }
}
