import type { Dashboard } from '@robokids/contracts/dashboard'
import type { Meeting } from '@robokids/contracts/meetings'
import type { WaitlistView } from '@robokids/contracts/waitlist'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleCard, sampleDashboard } from '../../src/dashboard/sample-dashboard.ts'
import { sampleMembership } from '../../src/membership/sample-membership.ts'
import { sampleOrder } from '../../src/shop/sample-order.ts'
import { logIn } from '../accounts.ts'
import { findings } from '../axe.ts'
import { eventually, useSite } from '../fixture.ts'
import { layoutShift, watchLayoutShift } from '../pages.ts'
import { draw } from '../screenshots.ts'
import { maren } from '../stub-accounts.ts'
import { refusal } from '../stub-api.ts'

const site = useSite()

const phone = { viewport: { width: 390, height: 844 }, timezoneId: 'America/New_York' }
const desktop = { viewport: { width: 1280, height: 900 }, timezoneId: 'America/New_York' }
const noa = { childName: 'Noa', childAge: 11 }
const ids = [1, 2, 3].map((number) => `019a0000-0000-7000-8000-00000000010${number}`) as [string, string, string]

/** Six Fridays at 4:00 PM Pacific, of which January 22, 2027 is the third. */
const meetings: Meeting[] = [8, 15, 22, 29, 36, 43].map((day, index) => ({
  number: index + 1,
  date: new Date(Date.UTC(2027, 0, day)).toISOString().slice(0, 10),
  startTime: '16:00',
  durationMinutes: 75,
  startsAt: new Date(Date.UTC(2027, 0, day + 1)).toISOString(),
}))
const ivo = sampleCard({ registrationId: ids[0], meetings, startsAt: meetings[0]!.startsAt, coachName: 'Dana' })
const unsigned = { status: 'confirmed', waiver: null, kit: null, waiverSignedAt: null } as const
const held = sampleCard(
  {
    ...unsigned,
    registrationId: ids[1],
    status: 'held',
    payment: null,
    children: [...ivo.children, noa],
    classType: 'intermediate',
    levelTitle: 'Level 2 Smart Robotics and Coding',
    startsAt: '2027-02-27T00:00:00.000Z',
    heldUntil: '2027-01-19T18:31:00.000Z',
  },
  { status: 'open', url: null, paidAt: null, receiptNumber: null },
)
const waiting = sampleCard({
  ...unsigned,
  registrationId: ids[2],
  children: [noa],
  startsAt: '2027-02-06T00:00:00.000Z',
})

const classes = (...cards: (typeof ivo)[]): Pick<Dashboard, 'classes'> => ({
  classes: { cards, memberClasses: [], past: 0, lastFinished: null },
})

async function openDashboard(dashboard: Dashboard, profile = phone, path = '/dashboard'): Promise<Page> {
  site.api.accounts.user = maren
  site.api.accounts.dashboard = dashboard
  const page = await site.open(profile)
  await page.goto(path)
  await page.getByRole('heading', { name: 'Your classes', level: 1 }).waitFor()
  await eventually(() => page.locator('main [aria-busy="true"]').count()).toBe(0)
  return page
}

const card = (page: Page, name: string) => page.getByRole('article', { name, exact: true })
const region = (page: Page, name: string | RegExp) => page.getByRole('region', { name })
const text = (locator: Locator) => locator.innerText().then((found) => found.replaceAll(/\s+/g, ' '))
/** The buttons that ask to be pressed. */
async function orange(page: Page): Promise<string[]> {
  const texts = await page.locator('main [class*="primary"]').allInnerTexts()
  return texts.map((found) => found.replaceAll(/\s+/g, ' '))
}

/** The link of the class, opened by the server. */
function openLink(passcode: string | null = null): void {
  const link = { meeting: 3, joinUrl: `${site.url}/card-page`, passcode, closesAt: '2027-01-23T01:30:00.000Z' }
  site.api.on('GET /api/registrations/:reference/link', () => ({ json: link }))
}

describe('a parent’s home', () => {
  it.each([
    ['a phone', phone],
    ['a desktop', desktop],
  ])('shows on %s what is next, what is to do by deadline, and each class, and passes axe', async (_on, profile) => {
    const membership = { ...sampleMembership, unpaid: null }
    const page = await openDashboard(
      sampleDashboard({
        ...classes(ivo, waiting, held),
        membership: { membership, others: [] },
        orders: { open: [sampleOrder], past: 0 },
      }),
      profile,
    )
    expect(await text(region(page, 'Next'))).toBe(
      'Next Ivo · Level 1 Foundations Friday, January 22 7:00 PM your time (4:00 PM Pacific) In 3 days · meeting 3 of 6 Add to calendar',
    )
    expect(await text(region(page, 'To do (2)'))).toBe(
      'To do (2) Pay for the seats of Ivo and Noa, held until 1:31 PM Pay $400.00 Sign the waiver for Noa Sign the waiver for Noa',
    )
    expect(await orange(page)).toEqual(['Pay $400.00'])
    const ready = await text(card(page, 'Ivo'))
    for (const line of [
      'Ready Level 1 Foundations · Coach Dana In 3 days',
      'Next Fri, Jan 22, 7:00 PM',
      'Kit Shipped January 5 · UPS 1Z999AA10123456784',
      'Link Opens Fri, Jan 22, 6:30 PM',
      'Waiver Signed Jan 2',
      'Receipt RK-000012 · $400.00',
    ])
      expect(ready).toContain(line)
    expect(await card(page, 'Ivo').getByRole('img').getAttribute('aria-label')).toBe('2 of 6 meetings are over')
    expect(await card(page, 'Ivo').getByRole('link', { name: '1Z999AA10123456784' }).getAttribute('href')).toBe(
      'https://www.ups.com/track?tracknum=1Z999AA10123456784',
    )
    expect(await text(region(page, 'Membership'))).toContain('Monthly, $7.00. Next payment December 28.')
    expect(await text(region(page, 'Shop orders'))).toContain('Robot Spider × 2 Pre-ordered')
    await card(page, 'Ivo').getByText('All 6 dates').click()
    expect(await findings(page, { inDark: true })).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
  })

  it('is where a sign-in leads, at the address that asked for it', async () => {
    site.api.accounts.dashboard = sampleDashboard(classes(ivo, waiting))
    const page = await site.open(desktop)
    await page.goto(`/dashboard?card=${ids[2]}`)
    await page.waitForURL('**/membership/login')
    expect(site.api.callsOf('GET', /^\/api\/dashboard$/)).toEqual([])
    await logIn(page)
    await page.waitForURL(`**/dashboard?card=${ids[2]}`)
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Noa')
    const header = page.getByRole('banner')
    const links = await header.getByRole('link').allInnerTexts()
    expect(links.indexOf('Your classes')).toBe(links.indexOf('Profile') - 1)
    expect(await page.title()).toBe('Your classes · Robo Kids Learning')
  })

  it('moves nothing when it is loaded, and can be used by keyboard alone', async () => {
    site.api.accounts.user = maren
    site.api.accounts.dashboard = sampleDashboard(classes(ivo, held))
    const page = await site.open(phone)
    await watchLayoutShift(page)
    site.api.delayMs = 150
    await page.goto('/dashboard')
    await card(page, 'Ivo').waitFor()
    expect(await layoutShift(page)).toBeLessThan(0.02)
    await region(page, 'To do (1)').getByRole('link', { name: 'Pay $400.00' }).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Ivo')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/dashboard?child=Ivo')
    await page.goto('/dashboard?child=Kim')
    await page.getByText('Nothing for Kim right now.').waitFor()
    await page.getByRole('link', { name: 'Show everyone' }).press('Enter')
    await card(page, 'Ivo').waitFor()
  })

  it('shows nothing of a family from the back/forward cache, or after the sign-in has ended', async () => {
    const page = await openDashboard(sampleDashboard(classes(ivo)))
    const isShown = await page.evaluate(() => {
      window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))
      return document.body.innerText.includes('Level 1 Foundations')
    })
    expect(isShown).toBe(false)
    site.api.accounts.user = null
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await page.waitForURL('**/membership/login')
    expect(await page.locator('main').innerText()).not.toContain('Ivo')
  })

  it('loads past classes when they are opened', async () => {
    site.api.accounts.past = { cards: [sampleCard({ startsAt: '2026-10-03T23:00:00.000Z' })], orders: [] }
    const page = await openDashboard(
      sampleDashboard({ classes: { cards: [ivo], memberClasses: [], past: 1, lastFinished: null } }),
    )
    expect(site.api.callsOf('GET', /past$/)).toEqual([])
    await page.getByText('Past classes (1)').click()
    await page.getByText('Ended October 3.').waitFor()
    await page.getByRole('link', { name: 'See Level 2' }).waitFor()
  })
})

describe('the time of a class', () => {
  it.each([
    ['America/Los_Angeles', 'Friday, January 22 4:00 PM Pacific In 3 days'],
    ['America/New_York', 'Friday, January 22 7:00 PM your time (4:00 PM Pacific) In 3 days'],
    ['Europe/Berlin', 'Saturday, January 23 1:00 AM your time (Friday, 4:00 PM Pacific) In 4 days'],
  ])('is told in %s on the reader’s own clock first', async (timezoneId, told) => {
    const page = await openDashboard(sampleDashboard(classes(ivo)), { ...phone, timezoneId })
    expect(await text(region(page, 'Next'))).toContain(told)
  })
})

describe('the class link', () => {
  it('is asked for by the server’s clock, whatever the browser’s says, and is the page’s orange button (C004)', async () => {
    site.api.accounts.user = maren
    const at = (now: string) => {
      site.api.accounts.dashboard = sampleDashboard({
        now,
        ...classes(ivo, { ...waiting, startsAt: ivo.startsAt, meetings }),
      })
    }
    const linkCalls = () => site.api.callsOf('GET', /\/link$/).length
    openLink('4242')
    const page = await site.open(phone)
    // Two hours ahead: by this clock the class is over.
    await page.clock.setSystemTime('2027-01-23T01:29:00.000Z')
    at('2027-01-22T23:29:00.000Z')
    await page.goto('/dashboard')
    await card(page, 'Ivo')
      .getByText('Today at 7:00 PM your time (4:00 PM Pacific). The link opens at 6:30 PM.')
      .waitFor()
    expect(linkCalls()).toBe(0)
    at('2027-01-22T23:31:00.000Z')
    await page.reload()
    const join = region(page, 'Next').getByRole('link', { name: 'Join class of Ivo' })
    await join.waitFor()
    expect(await join.getAttribute('href')).toBe(`${site.url}/card-page`)
    expect(await orange(page)).toEqual(['Join class of Ivo'])
    await card(page, 'Ivo').getByText('Starts in 29 minutes.').waitFor()
    await card(page, 'Ivo').getByText('4242').waitFor()
    // Noa's waiver is not signed: her card's link is not even asked for.
    expect(new Set(site.api.callsOf('GET', /\/link$/).map(({ path }) => path))).toEqual(
      new Set([`/api/registrations/${ids[0]}/link`]),
    )
    await card(page, 'Noa').getByText('The class is starting. Sign the waiver and the link appears here.').waitFor()
    at('2027-01-23T00:05:00.000Z')
    await page.reload()
    await card(page, 'Ivo').getByText('Started 5 minutes ago. Come right in.').waitFor()
    expect(await findings(page)).toEqual([])
  })

  it('that is not set yet is said to be coming', async () => {
    site.api.on('GET /api/registrations/:reference/link', () =>
      refusal('class_link_missing', 'Your coach has not shared the link yet. We have told the school.'),
    )
    const page = await openDashboard(sampleDashboard({ now: '2027-01-22T23:40:00.000Z', ...classes(ivo) }))
    await card(page, 'Ivo').getByText('Link is coming').waitFor()
    await card(page, 'Ivo').getByText('Your coach has not shared the link yet. We have told the school.').waitFor()
    await card(page, 'Ivo').getByRole('link', { name: 'Write to us' }).waitFor()
  })
})

describe('a held seat', () => {
  it('has no button to pay once its time is over, even before the server is heard', async () => {
    const page = await openDashboard(
      sampleDashboard({ ...classes({ ...held, heldUntil: '2027-01-19T18:00:02.000Z' }) }),
    )
    await card(page, 'Ivo and Noa').getByRole('link', { name: 'Pay $400.00' }).waitFor()
    site.api.on('GET /api/dashboard', () => ({ lost: true }))
    await card(page, 'Ivo and Noa').getByText('Hold ended').waitFor()
    expect(await page.getByRole('link', { name: 'Pay $400.00' }).count()).toBe(0)
    await page.getByText('The hold of your seat has ended.').waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Register again' }).click()
    await page.waitForURL('**/robokidspage2')
    await eventually(() => page.getByLabel('Guardian name').inputValue()).toBe('Maren Holt')
  })
})

describe('a held seat that the family gives up', () => {
  it('is released at once', async () => {
    const page = await openDashboard(sampleDashboard(classes(held)))
    site.api.on('POST /api/dashboard/registrations/:id/release', () => {
      site.api.accounts.dashboard = sampleDashboard(classes({ ...held, status: 'expired', heldUntil: null }))
      return { json: {} }
    })
    await card(page, 'Ivo and Noa').getByRole('button', { name: 'Let the seats go' }).click()
    await card(page, 'Ivo and Noa').getByText('Hold ended').waitFor()
    expect(site.api.callsOf('POST', /release$/).map(({ path, account }) => [path.split('/')[4], account])).toEqual([
      [held.registrationId, maren.userId],
    ])
  })
})

describe('a change that happens while the page is open', () => {
  it('is shown in its place, and takes the focus from nothing', async () => {
    const page = await openDashboard(sampleDashboard(classes(held, ivo)))
    await eventually(() => site.api.homeWatchers).toBe(1)
    const receipt = card(page, 'Ivo').getByRole('link', { name: 'RK-000012' })
    await receipt.focus()
    const { cardId, registrationId, children } = held
    const paid = { ...waiting, cardId, registrationId, children }
    site.api.changeHome('classes', classes(paid, ivo).classes)
    await card(page, 'Ivo and Noa').getByText('Waiver missing').waitFor()
    expect(await region(page, 'To do (1)').getByRole('link').allInnerTexts()).toHaveLength(1)
    expect(await receipt.evaluate((link) => link === document.activeElement)).toBe(true)
    // Another service's part, and one that a newer server knows.
    site.api.changeHome('classes', { cards: 'all' })
    site.api.changeHome('unavailable', ['orders'])
    await page.getByText('We cannot show your shop orders right now.').waitFor()
    await card(page, 'Ivo and Noa').waitFor()
    expect(site.api.callsOf('GET', /^\/api\/dashboard$/)).toHaveLength(1)
  })

  it('adds nothing above what the parent is about to press, until asked to', async () => {
    const page = await openDashboard(sampleDashboard(classes(ivo)))
    await eventually(() => site.api.homeWatchers).toBe(1)
    await card(page, 'Ivo').getByRole('link', { name: 'RK-000012' }).focus()
    site.api.changeHome('classes', classes(ivo, waiting).classes)
    await page.getByText('2 updates').waitFor()
    expect(await card(page, 'Noa').count()).toBe(0)
    await page.getByRole('button', { name: 'Show' }).click()
    await card(page, 'Noa').waitFor()
    await region(page, 'To do (1)').waitFor()
  })

  it('is added at once while nothing is being read', async () => {
    const page = await openDashboard(sampleDashboard(classes(ivo)))
    await eventually(() => site.api.homeWatchers).toBe(1)
    site.api.changeHome('classes', classes(ivo, waiting).classes)
    await card(page, 'Noa').waitFor()
  })
})

describe('the waitlist', () => {
  const entry: WaitlistView = {
    entryId: ids[0],
    guardianName: 'Maren Holt',
    email: maren.email,
    children: [...ivo.children, noa],
    classSessionId: ids[1],
    classType: 'intermediate',
    levelTitle: 'Level 2 Smart Robotics and Coding',
    startDate: '2027-02-26',
    startTime: '16:00',
    durationMinutes: 75,
    timeZone: 'America/Los_Angeles',
    status: 'waiting',
    place: 3,
    familiesWaiting: 7,
    offerEndsAt: null,
    closedReason: null,
    endedAt: null,
    registrationId: null,
    createdAt: '2027-01-02T17:05:00.000Z',
  }

  it('tells the place in line, which can be left, and an offer by its deadline', async () => {
    const offered = { ...entry, entryId: ids[2], status: 'offered', offerEndsAt: '2027-01-20T19:00:00.000Z' } as const
    const page = await openDashboard(sampleDashboard({ ...classes(), waitlist: [entry, offered] }))
    const lines = await text(region(page, 'Waitlist'))
    expect(lines).toContain('Level 2, Fri, Feb 26 3rd of 7 families for 2 seats Leave the line')
    expect(lines).toContain('2 seats are yours until Wednesday, January 20, 11:00 AM Pacific. 25 hours left.')
    expect(await text(region(page, 'To do (1)'))).toContain('2 seats offered, 25 hours left')
    expect(await orange(page)).toEqual(['Look at the offer'])
    expect(await findings(page)).toEqual([])
    site.api.on('POST /api/waitlist/:reference/leave', () => {
      site.api.accounts.dashboard = sampleDashboard({ ...classes(), waitlist: [offered] })
      return { json: { ...entry, status: 'left' } }
    })
    await page.getByRole('button', { name: 'Leave the line' }).click()
    await page.getByText('3rd of 7 families').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Take the seats' }).click()
    await page.waitForURL(`**/waitlist?offer=${offered.entryId}`)
  })

  it('gives offered seats to the next family after one question', async () => {
    const offered = { ...entry, status: 'offered', place: null, offerEndsAt: '2027-01-20T19:00:00.000Z' } as const
    const page = await openDashboard(sampleDashboard({ ...classes(), waitlist: [offered] }))
    await page.getByRole('link', { name: 'Take the seats, $500.00' }).waitFor()
    await draw(page, 'dashboard with an offer')
    site.api.on('POST /api/waitlist/:reference/decline', () => {
      site.api.accounts.dashboard = sampleDashboard({ ...classes(), waitlist: [] })
      return { json: { ...offered, status: 'declined' } }
    })
    await page.getByRole('button', { name: 'No, thank you' }).click()
    await page.getByRole('button', { name: 'Give them to the next family' }).click()
    await region(page, 'Waitlist').waitFor({ state: 'detached' })
    expect(await region(page, /^To do/).count()).toBe(0)
  })

  it('says that an offer has ended, and leads back into the line', async () => {
    const ended = { ...entry, status: 'expired', place: null, offerEndsAt: '2027-01-13T19:00:00.000Z' } as const
    const page = await openDashboard(sampleDashboard({ ...classes(), waitlist: [ended] }))
    await page.getByText('The offer ended on Wednesday. The seats went to the next family.').waitFor()
    await page.getByRole('link', { name: 'Join the line again' }).waitFor()
  })
})

describe('the sign-up form of a signed-in parent', () => {
  const childNames = (page: Page) =>
    page
      .getByLabel('Child\u0027s first name')
      .evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value))

  it('is filled in with an only child, and offers several to choose from', async () => {
    site.api.accounts.user = maren
    const { address } = ivo
    site.api.on('GET /api/family', () => ({ json: { children: ivo.children, address } }))
    const page = await site.open(phone)
    await page.goto('/robokidspage1')
    await eventually(() => childNames(page)).toEqual(['Ivo'])
    expect(await page.getByLabel('Child\u0027s age').inputValue()).toBe('9')

    site.api.on('GET /api/family', () => ({ json: { children: [...ivo.children, noa], address } }))
    const other = await site.open(phone)
    await other.goto('/robokidspage2')
    await other.getByRole('button', { name: 'Noa', exact: true }).click()
    expect(await childNames(other)).toEqual(['Noa'])
    await other.getByRole('button', { name: 'Add a sibling' }).click()
    await other.getByRole('button', { name: 'Ivo', exact: true }).click()
    expect(await childNames(other)).toEqual(['Noa', 'Ivo'])
    expect(await findings(other)).toEqual([])
  })
})

describe('a part that is away', () => {
  it('is told where it would be, and the rest is there', async () => {
    const page = await openDashboard(
      sampleDashboard({
        ...classes({ ...ivo, checkout: null }),
        unavailable: ['money', 'membership', 'orders'],
        membership: null,
        orders: null,
      }),
    )
    await page.getByText('We cannot show payments right now. Your classes and links are right.').waitFor()
    await page.getByText('We cannot show your shop orders right now.').waitFor()
    expect(await text(card(page, 'Ivo'))).toContain('Receipt RK-000012 · $400.00')
    site.api.accounts.dashboard = sampleDashboard(classes(ivo))
    await page.getByRole('button', { name: 'Try again to show money' }).click()
    await page.getByText('We cannot show payments right now.').waitFor({ state: 'detached' })
  })

  it('of the classes makes what is next and to do incomplete', async () => {
    const page = await openDashboard(
      sampleDashboard({
        classes: null,
        unavailable: ['classes'],
        membership: { membership: sampleMembership, others: [] },
      }),
    )
    await page
      .getByText('We cannot show your classes right now. If one is about to start, use the link in our reminder email.')
      .waitFor()
    expect(await text(region(page, 'To do (1)'))).toContain('This may not be complete.')
  })

  it('with all others makes the page say that it cannot be loaded, and try again', async () => {
    site.api.on('GET /api/dashboard', () => refusal('upstream_unavailable', 'Please try again in a moment.'))
    site.api.accounts.user = maren
    const page = await site.open(phone)
    await page.goto('/dashboard')
    await page.getByText('We could not load your classes.').waitFor()
    site.api.on('GET /api/dashboard', () => ({ json: sampleDashboard(classes(ivo)) }))
    await page.getByRole('button', { name: 'Try again' }).click()
    await card(page, 'Ivo').waitFor()
  })
})

describe('a family without a class ahead', () => {
  it('is led on from its first page', async () => {
    const page = await openDashboard(sampleDashboard(classes()))
    await page.getByText('Classes that you register with maren.holt@example.com appear here').waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('link', { name: 'See classes' }).click()
    await page.waitForURL('**/robokidslanding')
  })

  it('is shown the next level after the last class', async () => {
    const lastFinished = {
      children: ivo.children,
      classType: 'basic' as const,
      levelTitle: 'Level 1 Foundations',
      endedAt: '2027-02-13T00:00:00.000Z',
    }
    const page = await openDashboard(
      sampleDashboard({ classes: { cards: [], memberClasses: [], past: 1, lastFinished } }),
    )
    await page.getByText('Ivo finished Level 1 in February. Level 2 is next.').waitFor()
    await page.getByRole('link', { name: 'See dates' }).click()
    await page.waitForURL('**/robokidspage2')
  })

  it('confirms its address first', async () => {
    const account = { userId: maren.userId, email: maren.email, isConfirmed: false }
    const page = await openDashboard(sampleDashboard({ account, classes: null, membership: null, orders: null }))
    await page.getByText('We show classes only to the owner of maren.holt@example.com.').waitFor()
    await page.getByRole('button', { name: 'Send a new code' }).click()
    await page.getByLabel('Code').fill('123456')
    site.api.accounts.dashboard = sampleDashboard(classes(ivo))
    await page.getByRole('button', { name: 'Verify' }).click()
    await card(page, 'Ivo').waitFor()
  })
})
