import type { BookableClasses } from '@robokids/contracts/member-classes'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleDashboard } from '../../src/dashboard/sample-dashboard.ts'
import { sampleBookable, sampleMemberClass } from '../../src/membership/sample-bookable.ts'
import { sampleMembership } from '../../src/membership/sample-membership.ts'
import { findings } from '../axe.ts'
import { eventually, useSite } from '../fixture.ts'
import { maren } from '../stub-accounts.ts'
import { refusal } from '../stub-api.ts'

const site = useSite()
const zone = { timezoneId: 'America/Los_Angeles' }
const phone = { viewport: { width: 390, height: 844 }, ...zone }
const desktop = { viewport: { width: 1280, height: 900 }, ...zone }

/** A stub that books, moves and cancels. */
function serve(start: BookableClasses) {
  let classes = start
  const change = (own: Partial<BookableClasses['memberships'][number]>) => {
    classes = { ...classes, memberships: classes.memberships.map((one) => ({ ...one, ...own })) }
  }
  const dateOf = (wanted: unknown) => {
    const { seatsLeft: _, ...date } = classes.dates.find(({ classDate }) => classDate === wanted)!
    return date
  }
  const own = () => classes.memberships[0]!
  const sent: { path: string; body: Record<string, unknown> }[] = []
  site.api.on('GET /api/dashboard/member-classes', () => ({ json: classes }))
  site.api.on('POST /api/dashboard/member-classes', ({ path, body }) => {
    sent.push({ path, body })
    const { membershipId } = own()
    const made = { bookingId: String(body['id']), membershipId, ...dateOf(body['classDate']) }
    change({ credits: own().credits - 1, booked: [...own().booked, made] })
    return { json: made }
  })
  site.api.on('POST /api/dashboard/member-classes/:id/move', ({ path, body }) => {
    sent.push({ path, body })
    const moved = { ...own().booked.find(({ bookingId }) => path.includes(bookingId))!, ...dateOf(body['classDate']) }
    change({ booked: own().booked.map((one) => (one.bookingId === moved.bookingId ? moved : one)) })
    return { json: moved }
  })
  site.api.on('POST /api/dashboard/member-classes/:id/cancel', ({ path, body }) => {
    sent.push({ path, body })
    change({ credits: own().credits + 1, booked: own().booked.filter(({ bookingId }) => !path.includes(bookingId)) })
    return { json: {} }
  })
  return sent
}

async function open(path: string, profile: object = phone): Promise<Page> {
  site.api.accounts.user = maren
  const page = await site.open(profile)
  await page.goto(path)
  return page
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })
const dates = async (page: Page) =>
  (await page.getByRole('list', { name: 'Dates of members’ classes' }).getByRole('listitem').allInnerTexts()).map(
    (one) => one.replaceAll(/\s+/g, ' '),
  )

describe('a member', () => {
  it.each([
    ['a phone', phone],
    ['a desktop', desktop],
  ])('books a class, moves it and cancels it on %s, by the keyboard alone', async (_on, profile) => {
    const sent = serve(sampleBookable({ booked: [] }))
    const page = await open('/dashboard/book', profile)
    await page.getByText('2 classes to book.').waitFor()
    expect(await dates(page)).toEqual([
      'Friday, February 12, 4:00 PM Pacific 4 seats left Book Friday, February 12',
      'Saturday, February 13, 4:00 PM Pacific 5 seats left Book Saturday, February 13',
      'Sunday, February 14, 4:00 PM Pacific Full',
      'Monday, February 15, 4:00 PM Pacific 1 seat left Book Monday, February 15',
    ])
    expect(await findings(page)).toEqual([])

    await page.getByRole('button', { name: 'Book Friday, February 12' }).press('Enter')
    const asking = page.getByRole('dialog', { name: 'Book Friday, February 12?' })
    await asking
      .getByText(
        'This uses 1 of your 2 classes. No payment. You can move it for free until February 11, 4:00 PM Pacific.',
      )
      .waitFor()
    expect(await findings(page)).toEqual([])
    await asking.getByRole('button', { name: 'Book this class' }).press('Enter')
    await page.getByText('Booked: Friday, February 12. We emailed you the details.').waitFor()
    await page.getByText('1 class to book.').waitFor()

    await page.getByRole('link', { name: 'Move Friday, February 12' }).press('Enter')
    await heading(page, 'Move Friday, February 12').waitFor()
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Move Friday, February 12')
    await page.reload()
    await page.getByRole('button', { name: 'Choose Monday, February 15' }).press('Enter')
    await page.getByRole('dialog', { name: 'Move to Monday, February 15?' }).waitFor()
    await page.getByRole('button', { name: 'Move this class' }).press('Enter')
    await heading(page, 'Book a class').waitFor()
    await page.getByRole('list', { name: 'Booked classes' }).getByText('Monday, February 15').first().waitFor()

    await page.getByRole('button', { name: 'Cancel Monday, February 15' }).press('Enter')
    await page.getByText('You can book another class for it. The seat is offered to others at once.').waitFor()
    await page.getByRole('button', { name: 'Cancel this class' }).press('Enter')
    await page.getByText('Canceled: Monday, February 15.').waitFor()
    await page.getByText('2 classes to book.').waitFor()
    expect(sent.map(({ body }) => body)).toMatchObject([
      { membershipId: sampleMemberClass.membershipId, classDate: '2027-02-12' },
      { from: '2027-02-12', classDate: '2027-02-15' },
      { from: '2027-02-15', keepsCredit: true },
    ])
  })

  it('is told that a date has filled up meanwhile, with nothing changed', async () => {
    serve(sampleBookable({ booked: [] }))
    site.api.on('POST /api/dashboard/member-classes', () => refusal('class_full', 'This class is full.'))
    const page = await open('/dashboard/book')
    await page.getByRole('button', { name: 'Book Friday, February 12' }).click()
    await page.getByRole('button', { name: 'Book this class' }).click()
    await page.getByText('That date just filled up. Nothing has changed.').waitFor()
    await page.getByText('2 classes to book.').waitFor()
  })

  it.each([
    ['no class to book', { credits: 0 }, {}, 'Your next class comes on February 3.'],
    ['three', { credits: 3 }, {}, '3 classes to book. The next month adds none until you book one.'],
    [
      'a membership that ends',
      {},
      { endsAt: '2027-02-03T18:00:00.000Z' },
      'Ends on February 3. Book your 2 classes by then; what you have booked stays.',
    ],
    [
      'an unpaid month',
      { credits: 0 },
      { unpaid: { amount: 700, attempts: 1, nextTryAt: '2027-02-05T18:00:00.000Z' } },
      'Your payment of $7.00 did not go through. We try again on February 5; no new class comes until then. What you have booked stays.',
    ],
  ])('with %s is told what comes next, and the list stays readable', async (_, own, membership, sentence) => {
    serve(sampleBookable(own, membership))
    const page = await open('/dashboard/book')
    await page.getByText(sentence, { exact: true }).waitFor()
    expect(await dates(page)).toHaveLength(4)
    expect((await page.getByRole('button', { name: /^Book / }).count()) > 0).toBe(
      !('credits' in own) || own.credits > 0,
    )
    expect((await dates(page))[1]).toBe('Saturday, February 13, 4:00 PM Pacific Booked')
    expect(await findings(page)).toEqual([])
  })

  it('with three classes to book is told to move a class instead of canceling it', async () => {
    serve(sampleBookable({ credits: 3 }))
    const page = await open('/dashboard/book')
    await page.getByRole('button', { name: 'Cancel Saturday, February 13' }).click()
    await page.getByText('so this one can’t be added. Move it to another date instead.').waitFor()
    await page.getByRole('link', { name: 'Move instead' }).click()
    await heading(page, 'Move Saturday, February 13').waitFor()
  })

  it('finds the way to book from the home, with its class there', async () => {
    const membership = { ...sampleMembership, unpaid: null }
    const { membershipId } = membership
    const credits = { membershipId, credits: 2, hasEnded: false, booked: [sampleMemberClass] }
    site.api.accounts.dashboard = sampleDashboard({
      classes: { cards: [], memberClasses: [], memberCredits: [credits], past: 0, lastFinished: null },
      membership: { membership, others: [] },
    })
    serve(sampleBookable())
    const page = await open('/dashboard')
    const part = page.getByRole('region', { name: 'Membership' })
    await part.getByText('2 classes to book.').waitFor()
    await part.getByRole('link', { name: 'Book a class' }).click()
    await heading(page, 'Book a class').waitFor()
  })

  it('who cancels the membership is told which classes stay, and how many to book by when', async () => {
    serve(sampleBookable())
    site.api.accounts.membership = { ...sampleMembership, unpaid: null, status: 'active' }
    const page = await open('/profile', desktop)
    await page.getByRole('button', { name: 'Cancel membership' }).click()
    const asking = page.getByRole('dialog', { name: 'Cancel your membership?' })
    await asking.getByText('This class stays booked:').waitFor()
    await asking.getByText('Saturday, February 13, 2027').waitFor()
    await asking.getByText('You have 2 classes to book.').waitFor()
    expect(await findings(page)).toEqual([])
  })
})
