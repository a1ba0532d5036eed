import type { Change, ChangeTerms, MoveOptions } from '@robokids/contracts/changes'
import type { Place } from '@robokids/contracts/enrollment'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleChange } from '../../src/dashboard/sample-change.ts'
import { sampleCard, sampleDashboard } from '../../src/dashboard/sample-dashboard.ts'
import { findings } from '../axe.ts'
import { eventually, useSite } from '../fixture.ts'
import { maren } from '../stub-accounts.ts'
import { refusal } from '../stub-api.ts'

const site = useSite()
const phone = { viewport: { width: 390, height: 844 }, timezoneId: 'America/Los_Angeles' }
const desktop = { viewport: { width: 1280, height: 900 }, timezoneId: 'America/Los_Angeles' }

const { terms } = sampleChange
const [line] = terms.lines
const reference = terms.registrationId
const place = (childName: string, placeId: string): Place => ({
  ...terms.from,
  placeId,
  childName,
  childAge: 8,
  status: 'seated',
  paidAmount: 40_000,
  moves: 0,
  cancelledAt: null,
})
const noa = place('Noa', line?.placeId ?? '')
const ivo = place('Ivo', '019a0000-0000-8000-8000-000000000009')
const to = terms.to ?? terms.from

const option = { ...to, seatsLeft: 4, due: 10_000, back: 0 }
const full = { ...terms.from, classSessionId: '019a0000-0000-7000-8000-000000000011', startDate: '2030-02-27' }
const options: MoveOptions = {
  refusal: null,
  until: '2030-02-20T00:00:00.000Z',
  kitShipped: false,
  options: [option, { ...full, seatsLeft: 0, due: 0, back: 0 }],
}
const cancelTerms: ChangeTerms = {
  ...terms,
  kind: 'cancel',
  to: null,
  due: 0,
  lines: [{ ...line!, price: null, due: 0, back: 0 }],
  rule: { ...terms.rule, percent: 0, until: null, moves: null },
}

async function open(path: string, places: Place[], profile = phone): Promise<Page> {
  site.api.accounts.user = maren
  const card = sampleCard({ registrationId: reference, places, startsAt: '2027-02-06T00:00:00.000Z' })
  const classes = { cards: [card], memberClasses: [], past: 0, lastFinished: null }
  site.api.accounts.dashboard = sampleDashboard({ classes })
  site.api.on('GET /api/registrations/:reference/changes', () => ({ json: { places, changes: [] } }))
  site.api.on('POST /api/registrations/:reference/move/options', () => ({ json: options }))
  const page = await site.open(profile)
  await page.goto(path)
  return page
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent)

describe('canceling a class', () => {
  it('asks who, says plainly what goes back and by which rule, offers to move instead, and sends exactly that once', async () => {
    const sent: unknown[] = []
    site.api.on('POST /api/registrations/:reference/cancellation/quote', () => ({
      json: { quoteId: 'first', terms: cancelTerms },
    }))
    const better = {
      quoteId: 'second',
      terms: { ...cancelTerms, back: 20_000, lines: [{ ...cancelTerms.lines[0]!, back: 20_000 }] },
    }
    site.api.on('POST /api/registrations/:reference/cancellation', ({ body }) => {
      sent.push(body)
      return sent.length === 1
        ? refusal('quote_outdated', 'Something has changed. Please check it.', undefined, { quote: better })
        : { json: { ...sampleChange, kind: 'cancel', status: 'done', heldUntil: null, terms: better.terms } }
    })
    const page = await open(`/dashboard/cancel?card=${reference}`, [ivo, noa])
    await heading(page, 'Whose class is canceled?').waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('Choose a child.').waitFor()
    await page.getByLabel('Noa').check()
    await page.getByRole('button', { name: 'Next' }).click()
    await heading(page, 'What happens').waitFor()
    await eventually(() => focused(page)).toBe('What happens')
    await page.getByText('You can move for free until Tuesday, February 19, 2030, 4:00 PM Pacific.').waitFor()
    expect(await page.getByRole('link', { name: 'Move instead' }).getAttribute('href')).toContain('/dashboard/move?')
    await page.getByText('All sales are final: nothing goes back.').waitFor()
    expect(await findings(page)).toEqual([])
    await page.reload()
    await page.getByRole('button', { name: 'Cancel Noa’s class, $0.00 back' }).click()
    await page.getByRole('button', { name: 'Cancel Noa’s class, $200.00 back' }).click()
    await heading(page, 'Your classes').waitFor()
    expect(sent).toMatchObject([
      { placeIds: [noa.placeId], quoteId: 'first' },
      { placeIds: [noa.placeId], quoteId: 'second' },
    ])
  })
})

describe('a class that was canceled in another tab', () => {
  it('is told as canceled, also after Back and a reload, and nothing is sent again', async () => {
    const sent: unknown[] = []
    site.api.on('POST /api/registrations/:reference/cancellation/quote', () => ({
      json: { quoteId: 'first', terms: cancelTerms },
    }))
    const over = refusal('already_cancelled', 'This class is already canceled.')
    site.api.on('POST /api/registrations/:reference/cancellation', ({ body }) => {
      sent.push(body)
      return over
    })
    const page = await open(`/dashboard/cancel?card=${reference}`, [noa])
    await page.getByRole('button', { name: 'Cancel Noa’s class, $0.00 back' }).click()
    await page.getByText('This class is already canceled.').waitFor()
    site.api.on('GET /api/registrations/:reference/changes', () => ({
      json: { places: [{ ...noa, status: 'cancelled' }], changes: [] },
    }))
    await page.goto('/dashboard')
    await page.goBack()
    await page.getByText('This class is already canceled.').waitFor()
    await page.reload()
    await page.getByText('This class is already canceled.').waitFor()
    await page.getByRole('link', { name: 'Your classes' }).first().waitFor()
    expect(await page.getByRole('button', { name: /^Cancel/ }).count()).toBe(0)
    expect(sent).toHaveLength(1)
  })
})

describe('moving a child', () => {
  it.each([
    ['a phone', phone],
    ['a desktop', desktop],
  ])(
    'on %s shows each date with its price, then what happens, and leads to the payment of the difference',
    async (_on, profile) => {
      site.api.on('POST /api/registrations/:reference/move/quote', () => ({ json: { quoteId: 'first', terms } }))
      site.api.on('POST /api/registrations/:reference/move', () => ({
        json: { change: sampleChange, checkoutUrl: `${site.url}/card-page` },
      }))
      const page = await open('/dashboard', [noa], profile)
      await page.getByRole('link', { name: /^Move/ }).click()
      await heading(page, 'Where to?').waitFor()
      const rows = await page.getByRole('listitem').allInnerTexts()
      expect(rows.join(' ').replaceAll(/\s+/g, ' ')).toContain(
        'Tuesday, March 5, 2030, 4:00 PM Pacific 4 seats left · +$100.00',
      )
      expect(await page.getByRole('link', { name: /^Join the waitlist/ }).count()).toBe(1)
      expect(await findings(page)).toEqual([])
      await page.getByRole('link', { name: /^Choose/ }).focus()
      await page.keyboard.press('Enter')
      await heading(page, 'Check the move').waitFor()
      await eventually(() => focused(page)).toBe('Check the move')
      await page.getByText('This is your one free move.').waitFor()
      expect(await findings(page)).toEqual([])
      await page.getByRole('link', { name: 'Keep February 26' }).waitFor()
      await page.getByRole('button', { name: 'Pay $100.00 and move Noa' }).click()
      await page.waitForURL('**/card-page')
    },
  )

  it('that was not paid is offered again by Back, and asked for again where it has run out or was given up in another tab', async () => {
    const ids: string[] = []
    const answers = [
      { change: sampleChange, checkoutUrl: `${site.url}/card-page` },
      { change: { ...sampleChange, status: 'withdrawn' as const, heldUntil: null }, checkoutUrl: null },
      { change: sampleChange, checkoutUrl: `${site.url}/card-page?again` },
    ]
    site.api.on('POST /api/registrations/:reference/move/quote', () => ({ json: { quoteId: 'first', terms } }))
    site.api.on('POST /api/registrations/:reference/move', ({ body }) => {
      ids.push((body as { id: string }).id)
      return { json: answers[ids.length - 1] ?? answers[0]! }
    })
    const page = await open(`/dashboard/move?card=${reference}`, [noa])
    await page.getByRole('link', { name: /^Choose/ }).click()
    const pay = page.getByRole('button', { name: 'Pay $100.00 and move Noa' })
    await pay.click()
    await page.waitForURL('**/card-page')
    await page.goBack()
    await heading(page, 'Check the move').waitFor()
    await pay.click()
    await page.waitForURL('**/card-page?again')
    expect(ids).toHaveLength(3)
    expect(ids[2]).not.toBe(ids[1])
  })

  it('that has happened in another tab is told, with the way back', async () => {
    const text = 'A child can be moved once, and Noa was. Write to us if something came up.'
    const page = await open(`/dashboard/move?card=${reference}`, [noa])
    site.api.on('POST /api/registrations/:reference/move/quote', () => ({ json: { quoteId: 'first', terms } }))
    site.api.on('POST /api/registrations/:reference/move', () => refusal('change_not_allowed', text))
    await page.getByRole('link', { name: /^Choose/ }).click()
    await page.getByRole('button', { name: 'Pay $100.00 and move Noa' }).click()
    await page.getByText(text).waitFor()
    await page.getByRole('link', { name: /^Keep/ }).waitFor()
  })

  it('that the policy refuses has no button, and a date that has filled up leaves everything as it was', async () => {
    const page = await open(`/dashboard/move?card=${reference}`, [noa])
    await heading(page, 'Where to?').waitFor()
    site.api.on('POST /api/registrations/:reference/move/quote', () => ({ json: { quoteId: 'first', terms } }))
    site.api.on('POST /api/registrations/:reference/move', () => refusal('class_full', 'This class is full.'))
    await page.getByRole('link', { name: /^Choose/ }).click()
    await page.getByRole('button', { name: 'Pay $100.00 and move Noa' }).click()
    await page.getByText('That date just filled up. Nothing has changed.').waitFor()
    await page.getByRole('link', { name: 'Choose another date' }).waitFor()

    const text = 'Moving was free until Friday, January 1, 2027, 4:00 PM Pacific. Write to us if something came up.'
    site.api.on('POST /api/registrations/:reference/move/options', () => ({
      json: { refusal: text, until: null, kitShipped: false, options: [] },
    }))
    await page.goto(`/dashboard/move?card=${reference}`)
    await page.getByText(text).waitFor()
    expect(await page.getByRole('link', { name: /^Choose/ }).count()).toBe(0)
  })
})

describe('correcting a name or the address', () => {
  it('changes what the family typed, says that what was signed stays, and shows each error at its field', async () => {
    const sent: unknown[] = []
    site.api.on('POST /api/registrations/:reference/correction', ({ body }) => {
      sent.push(body)
      if (sent.length === 1)
        return refusal('validation_failed', 'Please check the form.', [
          { path: 'address.zipCode', message: 'Enter a zip code.' },
        ])
      return { json: { children: [{ childName: 'Noah', childAge: 8 }], address: sampleCard().address } }
    })
    const page = await open('/about', [noa])
    const card = sampleCard({
      registrationId: reference,
      places: [noa],
      kit: null,
      startsAt: '2027-02-06T00:00:00.000Z',
    })
    site.api.accounts.dashboard = sampleDashboard({
      classes: { cards: [card], memberClasses: [], past: 0, lastFinished: null },
    })
    await page.goto('/dashboard')
    await page.getByRole('link', { name: /^Correct a name or the address/ }).click()
    await heading(page, 'Correct a name or the address').waitFor()
    await page.getByText('What you signed stays as you signed it.').waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await heading(page, 'Your classes').waitFor()
    expect(sent).toEqual([])

    await page.getByRole('link', { name: /^Correct a name or the address/ }).click()
    await page.getByLabel('Child’s first name').fill('Noah')
    await page.getByLabel('Zip code').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Enter a zip code.').first().waitFor()
    await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('address.zipCode')
    await page.getByLabel('Zip code').fill('27701')
    await page.getByRole('button', { name: 'Save' }).click()
    await heading(page, 'Your classes').waitFor()
    expect(sent[1]).toMatchObject({
      children: [{ placeId: noa.placeId, childName: 'Noah', childAge: 8 }],
      address: { zipCode: '27701' },
    })
  })

  it('is over once the kit has left', async () => {
    // The card of the sample has its kit on the way.
    const page = await open(`/dashboard/correct?card=${reference}`, [noa])
    await page.getByText('The kit is on its way, so this can no longer be corrected.').waitFor()
  })
})

describe('a move that is not paid yet', () => {
  it('can be paid or given up from its card', async () => {
    const page = await open('/dashboard', [noa])
    const card = sampleCard({
      registrationId: reference,
      places: [noa],
      pendingMove: { ...sampleChange, heldUntil: '2099-01-01T00:00:00.000Z' },
    })
    site.api.accounts.dashboard = sampleDashboard({
      classes: { cards: [card], memberClasses: [], past: 0, lastFinished: null },
    })
    const sent: unknown[] = []
    site.api.on('POST /api/registrations/:reference/move/withdraw', ({ body }) => {
      sent.push(body)
      return { json: { ...sampleChange, status: 'withdrawn', heldUntil: null } }
    })
    site.api.on('POST /api/registrations/:reference/move', () => ({
      json: { change: sampleChange, checkoutUrl: `${site.url}/card-page` },
    }))
    await page.reload()
    await page.getByText('Move not finished').waitFor()
    await page.getByRole('button', { name: 'Keep the old date' }).click()
    await eventually(() => Promise.resolve(sent)).toEqual([{ changeId: sampleChange.changeId }])
    await page.getByRole('button', { name: 'Pay $100.00' }).click()
    await page.waitForURL('**/card-page')
  })

  it.each([
    ['done', 'Noa moved to Level 2, Tuesday, March 5.'],
    ['refused', 'The new seat was gone when your payment arrived. Noa keeps Level 1, and $100.00 goes back.'],
  ] as const)('is not asked for again right after its payment, and then told as %s', async (status, sentence) => {
    const page = await open('/dashboard', [noa])
    const pendingMove = { ...sampleChange, heldUntil: '2099-01-01T00:00:00.000Z' }
    const card = sampleCard({ registrationId: reference, places: [noa], pendingMove })
    site.api.accounts.dashboard = sampleDashboard({
      classes: { cards: [card], memberClasses: [], past: 0, lastFinished: null },
    })
    let now: Change = pendingMove
    site.api.on('GET /api/registrations/:reference/changes', () => ({ json: { places: [noa], changes: [now] } }))
    await page.goto(`/dashboard?card=${reference}&change=${sampleChange.changeId}`)
    await page.getByText('Your payment is being confirmed. Noa moves in a moment.').waitFor()
    expect(await page.getByRole('button', { name: 'Pay $100.00' }).count()).toBe(0)
    now = { ...sampleChange, status, heldUntil: null }
    await page.getByText(sentence).waitFor()
    expect(await findings(page)).toEqual([])
  })
})
