/**
 * Loads what a form needs once it is sent. Where the server is there and that is not, the site has a new version: the page
 * is loaded anew, with what was typed.
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
