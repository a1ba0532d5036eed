import type { ChangeTerms, MoveOptions } from '@robokids/contracts/changes'
import type { Choice } from '@robokids/contracts/class-cancellation'
import { describe, expect, it } from 'vitest'
import { sampleChange } from '../../src/dashboard/sample-change.ts'
import { sampleChoice } from '../../src/dashboard/sample-choice.ts'
import { findings } from '../axe.ts'
import { eventually, useSite } from '../fixture.ts'
import { refusal } from '../stub-api.ts'

const site = useSite()
const phone = { viewport: { width: 390, height: 844 }, timezoneId: 'America/Los_Angeles' }
const desktop = { viewport: { width: 1280, height: 900 }, timezoneId: 'America/Los_Angeles' }

const { choiceId, places } = sampleChoice
const [noa] = places
const ivo = { ...noa!, childName: 'Ivo', placeId: '019a0000-0000-8000-8000-000000000009', paidAmount: 0 }
const address = `/choice?reference=${choiceId}`
const { terms } = sampleChange
const school = { choiceId, by: 'family' as const }
const moveTerms: ChangeTerms = { ...terms, school }
const options: MoveOptions = {
  refusal: null,
  until: sampleChoice.chooseUntil,
  kitShipped: false,
  options: [{ ...terms.to!, seatsLeft: 4, due: 10_000, back: 0 }],
}
const refundTerms: ChangeTerms = {
  ...terms,
  kind: 'cancel',
  to: null,
  due: 0,
  back: 40_000,
  lines: terms.lines.map((line) => ({ ...line, price: null, due: 0, back: 40_000 })),
  rule: { ...terms.rule, percent: 100, moves: null },
  school,
}

async function open(choice: Choice, profile = phone) {
  let current = choice
  site.api.on('GET /api/choices/:reference', () => ({ json: current }))
  const page = await site.open(profile)
  await page.goto(address)
  await page.getByRole('heading', { name: 'Your choice', level: 1 }).waitFor()
  return { page, become: (next: Choice) => (current = next) }
}

const heading = (page: Awaited<ReturnType<typeof open>>['page'], name: string) =>
  page.getByRole('heading', { name, level: 1 })

describe('the choice after the school has canceled a class', () => {
  it.each([
    ['a phone', phone],
    ['a desktop', desktop],
  ])('is made on %s without an account: all money back, said before, once, and then told', async (_on, profile) => {
    const sent: unknown[] = []
    site.api.on('POST /api/choices/:reference/cancellation/quote', () => ({
      json: { quoteId: 'first', terms: refundTerms },
    }))
    const { page, become } = await open(sampleChoice, profile)
    await page.getByText('Choose by Tuesday, January 29, 2030, 5:00 PM Pacific.').waitFor()
    await page.getByText('If we hear nothing, all $400.00 goes back.').waitFor()
    expect(await findings(page)).toEqual([])
    site.api.on('POST /api/choices/:reference/cancellation', ({ body }) => {
      sent.push(body)
      become({
        ...sampleChoice,
        isOpen: false,
        back: 0,
        sent: 40_000,
        places: [
          {
            ...noa!,
            classCancelled: undefined,
            status: 'cancelled',
            paidAmount: 0,
            cancelledAt: '2030-01-20T20:00:00.000Z',
            cancelledBySchool: 'chosen',
          },
        ],
      })
      return { json: { ...sampleChange, kind: 'cancel', status: 'done', heldUntil: null, terms: refundTerms } }
    })
    await page.getByRole('link', { name: 'Get $400.00 back' }).focus()
    await page.keyboard.press('Enter')
    await heading(page, 'Your money back').waitFor()
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Your money back')
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Get $400.00 back' }).click()
    await page.getByText('We sent $400.00 back to your card on Sunday, January 20, 2030.').waitFor()
    expect(await page.getByRole('link', { name: /Choose|Get/ }).count()).toBe(0)
    expect(sent).toMatchObject([{ placeIds: [noa?.placeId], quoteId: 'first' }])
  })

  it('may be another one for each child: one moves and pays the difference, the other one takes the money', async () => {
    site.api.on('POST /api/choices/:reference/move/options', () => ({ json: options }))
    site.api.on('POST /api/choices/:reference/move/quote', () => ({ json: { quoteId: 'first', terms: moveTerms } }))
    site.api.on('POST /api/choices/:reference/move', () => ({
      json: { change: { ...sampleChange, terms: moveTerms }, checkoutUrl: `${site.url}/card-page` },
    }))
    const { page } = await open({ ...sampleChoice, places: [noa!, ivo] })
    await page.getByRole('link', { name: 'Choose for each child' }).click()
    await page.getByRole('link', { name: 'Let the class go for Ivo' }).waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('link', { name: 'Choose a new date for Noa' }).click()
    await heading(page, 'Where to?').waitFor()
    await page.getByRole('link', { name: /^Choose/ }).click()
    await heading(page, 'Check the move').waitFor()
    expect(await page.getByText('This is your one free move.').count()).toBe(0)
    await page.getByRole('button', { name: 'Pay $100.00 and move Noa' }).click()
    await page.waitForURL('**/card-page')
  })

  it('tells what was not chosen in time, a move that is not paid, and a link that does not work', async () => {
    const late = { ...noa!, classCancelled: undefined, status: 'cancelled' as const, paidAmount: 0 }
    const { page, become } = await open({
      ...sampleChoice,
      isOpen: false,
      sent: 40_000,
      places: [{ ...late, cancelledAt: '2030-01-30T01:00:05.000Z', cancelledBySchool: 'deadline' }],
    })
    await page
      .getByText('We sent all $400.00 back on Tuesday, January 29, 2030, as we had not heard from you.')
      .waitFor()
    become({ ...sampleChoice, pending: { ...sampleChange, terms: moveTerms } })
    await page.reload()
    await page.getByText('Nothing changes until you pay $100.00.').waitFor()
    await page.getByRole('button', { name: 'Pay $100.00' }).waitFor()
    expect(await findings(page)).toEqual([])
    site.api.on('GET /api/choices/:reference', () => refusal('choice_not_found', 'We can’t find this choice.'))
    await page.goto(address)
    await page.getByText('This link does not work. Please use the one in our email.').waitFor()
  })
})
