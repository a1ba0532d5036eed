import { describe, expect, it } from 'vitest'
import { eventually, useSite } from '../fixture.ts'
import { layoutShift, sidewaysScroll, watchLayoutShift } from '../pages.ts'

const site = useSite()

describe('the navigation', () => {
  it('opens More on hover, and closes it 100 ms after the pointer has left', async () => {
    const page = await site.open({ viewport: { width: 1280, height: 800 } })
    await page.clock.install()
    await page.goto('/')
    const membership = page.getByRole('banner').getByRole('link', { name: 'Membership' })
    const more = page.getByRole('button', { name: 'More' })
    await more.hover()
    await membership.waitFor()
    await more.click()
    expect(await membership.isVisible()).toBe(true)
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.mouse.move(200, 600)
    await page.clock.runFor(90)
    expect(await membership.isVisible()).toBe(true)
    await page.clock.runFor(20)
    await membership.waitFor({ state: 'hidden' })
  })

  it('operates More with the keyboard alone', async () => {
    const page = await site.open({ viewport: { width: 1280, height: 800 } })
    await page.goto('/')
    const more = page.getByRole('button', { name: 'More' })
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    const membership = page.getByRole('banner').getByRole('link', { name: 'Membership' })
    await more.focus()
    await page.keyboard.press('Enter')
    await membership.waitFor()
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Membership')
    await page.keyboard.press('Escape')
    await membership.waitFor({ state: 'hidden' })
    expect(await focused()).toBe('More')
    await page.keyboard.press('Enter')
    for (let links = 0; links < 6; links++) await page.keyboard.press('Tab')
    await membership.waitFor({ state: 'hidden' })
  })

  it('closes More on a tap outside, also when a tapped button takes no focus', async () => {
    const page = await site.open({ viewport: { width: 1280, height: 800 }, hasTouch: true })
    // As in WebKit.
    await page.addInitScript(() => window.addEventListener('mousedown', (event) => event.preventDefault(), true))
    await page.goto('/')
    const more = page.getByRole('button', { name: 'More' })
    const membership = page.getByRole('banner').getByRole('link', { name: 'Membership' })
    await more.tap()
    await membership.waitFor()
    const [button, list] = [await more.boundingBox(), await page.locator('header [popover]').boundingBox()]
    // Below its button, and within the page.
    expect(list!.y - button!.y - button!.height).toBeLessThan(20)
    expect(Math.abs(list!.x + list!.width - button!.x - button!.width)).toBeLessThan(2)
    await page.touchscreen.tap(200, 600)
    await membership.waitFor({ state: 'hidden' })
    await more.tap()
    await membership.waitFor()
    await more.tap()
    await membership.waitFor({ state: 'hidden' })
  })

  it('repeats all links in a sheet on a phone', async () => {
    const page = await site.open({ viewport: { width: 390, height: 844 }, hasTouch: true })
    await page.goto('/')
    const menu = page.getByRole('button', { name: 'Menu', exact: true })
    const sheet = page.getByRole('dialog', { name: 'Menu' })
    await menu.tap()
    await sheet.waitFor()
    expect(await sheet.getByRole('link').allInnerTexts()).toEqual([
      'Home',
      'Robo Kids Learning',
      'Innovator Program',
      'News & Guides',
      'Shop',
      'Membership',
      'About',
      'FAQ',
      'Contact',
      'Follow Us',
      'Log in',
    ])
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'hidden' })
    expect(await menu.evaluate((button) => button === document.activeElement)).toBe(true)
    await menu.tap()
    await sheet.getByRole('link', { name: 'Robo Kids Learning' }).tap()
    await page.waitForURL('**/robokidslanding')
    await sheet.waitFor({ state: 'hidden' })
  })

  it('leads to the footer, which has the same links, when the sheet cannot be loaded', async () => {
    const page = await site.open({ viewport: { width: 390, height: 844 }, hasTouch: true })
    await page.route('**/MenuSheet-*.js', (route) => route.abort())
    await page.goto('/about')
    await page.getByRole('button', { name: 'Menu', exact: true }).tap()
    await eventually(() => page.evaluate(() => document.activeElement?.id)).toBe('footer')
    // By the router: the page's state stays.
    await page.evaluate(() => Object.assign(window, { stayed: true }))
    await page.getByRole('contentinfo').getByRole('link', { name: 'FAQ' }).tap()
    await page.waitForURL('**/faq')
    await page.getByRole('heading', { level: 1, name: 'Questions that parents ask' }).waitFor()
    expect(await page.evaluate(() => 'stayed' in window)).toBe(true)
    await page.getByRole('contentinfo').getByRole('link', { name: 'Waiver (PDF)' }).waitFor()
  })

  it('shows the cart’s item count on every page without a layout shift, and nothing for an empty cart', async () => {
    const page = await site.open({ viewport: { width: 320, height: 700 } })
    await page.goto('/shop/robot-spider')
    const cart = page.getByRole('banner').getByRole('link', { name: /^In your cart/ })
    expect(await cart.count()).toBe(0)
    const add = page.getByRole('button', { name: 'Add Robot Spider to cart' })
    await add.click()
    await add.click()
    await page.getByRole('link', { name: 'In your cart: 2' }).waitFor()
    await page.getByRole('contentinfo').getByRole('link', { name: 'About' }).click()
    await page.waitForURL('**/about')
    await page.getByRole('link', { name: 'In your cart: 2' }).waitFor()
    await watchLayoutShift(page)
    await page.reload()
    await page.getByRole('link', { name: 'In your cart: 2' }).waitFor()
    expect(await layoutShift(page)).toBe(0)
    expect(await sidewaysScroll(page)).toBe(0)
    // A cart belongs to its tab.
    const other = await page.context().newPage()
    await other.goto('/shop')
    expect(await other.getByRole('link', { name: /^In your cart/ }).count()).toBe(0)
    await cart.click()
    await page.waitForURL('**/shop#cart')
    await page.getByRole('button', { name: 'Clear cart' }).click()
    await cart.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('link', { name: 'In your cart: 2' }).waitFor()
  })

  it('fades into the next page, focuses its heading and sets the title', async () => {
    const page = await site.open({ viewport: { width: 1280, height: 800 } })
    await page.addInitScript(() => {
      const fade = document.startViewTransition.bind(document)
      Object.assign(window, { fades: 0 })
      document.startViewTransition = (options) => {
        Object.assign(window, { fades: (window as unknown as { fades: number }).fades + 1 })
        return fade(options)
      }
    })
    const fades = () => page.evaluate(() => (window as unknown as { fades: number }).fades)
    const follow = (name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click()
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    // The fade is imported after what the page needs.
    const fading = page.waitForResponse(/fade-between-pages/)
    await page.goto('/')
    await (await fading).finished()
    expect(await fades()).toBe(0)
    // Twice in a row: the second does not wait for the first to finish.
    await follow('Innovator Program')
    await follow('Robo Kids Learning')
    await eventually(focused).toBe('Live robotics classes, with the kit shipped to your home')
    await eventually(() => page.title()).toBe('Live robotics classes · Robo Kids Learning')
    const before = await fades()
    expect(before).toBeGreaterThan(0)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await follow('Shop')
    await eventually(focused).toBe('Kits and robots')
    expect(await fades()).toBe(before)
  })

  it('has a skip link to the content', async () => {
    const page = await site.open()
    await page.goto('/')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    expect(new URL(page.url()).hash).toBe('')
  })
})

describe('an address without a page', () => {
  it('answers 404 with the friendly page', async () => {
    const page = await site.open()
    const response = await page.goto('/no-such-page')
    expect(response?.status()).toBe(404)
    await page.getByRole('heading', { level: 1, name: 'This page took itself apart' }).waitFor()
    expect(await page.title()).toBe('Page not found · Robo Kids Learning')
    expect(await page.getByRole('navigation', { name: 'Main' }).isVisible()).toBe(true)
  })

  it('redirects from /admin to the home page, without a history entry', async () => {
    const page = await site.open()
    await page.goto('/robokidslanding')
    await page.goto('/admin')
    await page.waitForURL(`${site.url}/`)
    await page.goBack()
    await eventually(() => new URL(page.url()).pathname).toBe('/robokidslanding')
  })
})

describe('the cookie banner', () => {
  it('disappears for good once accepted, and reserves space below the page until then', async () => {
    const page = await site.open({ viewport: { width: 390, height: 844 } })
    await page.goto('/')
    const banner = page.getByRole('region', { name: 'Cookies' })
    for (const [name, path] of [
      [/^Privacy Policy/, '/privacy'],
      [/^Terms of Service/, '/terms'],
    ] as const) {
      const link = banner.getByRole('link', { name })
      expect(await link.getAttribute('href')).toBe(path)
      expect(await link.getAttribute('target')).toBe('_blank')
      expect(await link.getAttribute('rel')).toContain('noopener')
    }
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight))
    const bottom = (box: { y: number; height: number } | null) => (box ? box.y + box.height : 0)
    const top = (await banner.boundingBox())?.y ?? 0
    await eventually(async () => bottom(await page.getByRole('contentinfo').boundingBox())).toBeLessThanOrEqual(top + 1)
    await banner.getByRole('button', { name: 'Accept' }).click()
    await banner.waitFor({ state: 'hidden' })
    // Keyboard focus continues with the page, as the button was removed.
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    expect(await page.evaluate(() => localStorage.getItem('cookiesAccepted'))).toBe('true')
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await banner.count()).toBe(0)
  })
})
