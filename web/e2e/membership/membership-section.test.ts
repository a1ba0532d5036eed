import type { Membership } from '@robokids/contracts/billing'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleMembership } from '../../src/membership/sample-membership.ts'
import { eventually, useSite } from '../fixture.ts'
import { maren } from '../stub-accounts.ts'

const site = useSite()
const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

async function openProfile(
  membership: Membership | null,
  others: Membership[] = [],
  timezoneId = 'America/Los_Angeles',
): Promise<Page> {
  const { accounts } = site.api
  Object.assign(accounts, { user: maren, membership, others })
  const page = await site.open({ timezoneId })
  await page.goto('/profile')
  await section(page, 'Your membership').waitFor()
  return page
}

const running: Membership = { ...sampleMembership, unpaid: null }
const second: Membership = {
  ...running,
  membershipId: '019a0000-0000-7000-8000-0000000000b2',
  plan: 'yearly',
  amount: 6_000,
  paidUntil: '2027-04-10T10:00:00.000Z',
  nextCharge: { at: '2027-04-10T10:00:00.000Z', amount: 6_000, currency: 'usd' },
}

describe('the dates of a membership', () => {
  // At 2 AM UTC it is the previous day at the school; its daylight saving time changes on March 14, 2027 and November 7, 2027.
  it.each([
    ['2027-01-01T02:00:00.000Z', 'December 31, 2026'],
    ['2027-03-14T07:59:59.000Z', 'March 13, 2027'],
    ['2027-03-15T06:59:59.000Z', 'March 14, 2027'],
    ['2027-03-15T07:00:00.000Z', 'March 15, 2027'],
    ['2027-11-08T07:59:59.000Z', 'November 7, 2027'],
    ['2027-11-08T08:00:00.000Z', 'November 8, 2027'],
  ])('are the school’s, as in the mails, wherever the browser is: %s is %s', async (instant, day) => {
    for (const timezoneId of ['Asia/Tokyo', 'America/Los_Angeles', 'Pacific/Pago_Pago']) {
      const membership = {
        ...running,
        paidUntil: instant,
        nextCharge: { at: instant, amount: 700, currency: 'usd' as const },
        payments: [{ ...running.payments[1]!, paidAt: instant }],
      }
      const page = await openProfile(membership, [], timezoneId)
      const text = () => section(page, 'Your membership').innerText()
      expect(await text()).toContain(`$7.00 on ${day}`)
      expect(await text()).toContain(`First payment, ${day}`)
      await page.getByRole('button', { name: 'Cancel membership' }).click()
      await page.getByText(`It stays active until ${day}`).waitFor()
      await page.getByRole('button', { name: 'Yes, cancel it' }).click()
      await page.getByText(`Your membership ends on ${day}.`).waitFor()
    }
  })
})

describe('a payment that the bank wants confirmed', () => {
  it('links to the bank’s confirmation, and to the page for changing the card', async () => {
    const confirmUrl = `${site.url}/card-page`
    const page = await openProfile({
      ...running,
      status: 'past_due',
      unpaid: { amount: 700, attempts: 1, nextTryAt: '2026-12-01T10:00:00.000Z', confirmUrl },
    })
    const told = section(page, 'Your membership')
    await told.getByText('Your bank needs you to confirm the payment of $7.00.').waitFor()
    await told.getByText('We’ll try again on December 1, 2026.').waitFor()
    expect(await told.getByRole('button', { name: 'Update card' }).count()).toBe(2)
    await told.getByRole('button', { name: 'Confirm the payment' }).click()
    await page.waitForURL('**/card-page')
    site.api.accounts.membership = running
    await page.goBack()
    await told.getByText('$7.00 a month').waitFor()
    expect(await told.getByText('Your bank needs you').count()).toBe(0)
  })

  it('asks for another card only if the bank requires no confirmation', async () => {
    const page = await openProfile(sampleMembership)
    await page.getByText('Your payment of $7.00 did not go through.').waitFor()
    expect(await page.getByRole('button', { name: 'Confirm the payment' }).count()).toBe(0)
  })
})

describe('a second membership that came with an email', () => {
  it('is shown with its price, ends after a confirmation, and can be kept after all', async () => {
    const page = await openProfile(running, [second])
    const other = section(page, 'Your second membership')
    await other.getByText('$60.00 a year').waitFor()
    await other.getByText('$60.00 on April 10, 2027').waitFor()
    await other.getByText('It was made with another email address').waitFor()
    await other.getByRole('button', { name: 'End it' }).click()
    const question = page.getByRole('dialog', { name: 'End your second membership?' })
    await question.getByText('on April 10, 2027').waitFor()
    await question.getByRole('button', { name: 'Keep it' }).click()
    expect(site.api.callsOf('POST', /cancel$/)).toEqual([])
    await other.getByRole('button', { name: 'End it' }).click()
    await question.getByRole('button', { name: 'Yes, end it' }).click()
    await other.getByText('Your second membership ends on April 10, 2027. You won’t be charged for it again.').waitFor()
    expect(site.api.callsOf('POST', /cancel$/).map(({ body }) => body)).toEqual([{ membershipId: second.membershipId }])
    // The first one is unchanged.
    expect(await section(page, 'Your membership').innerText()).toContain('$7.00 on December 28, 2026')
    await eventually(() => other.innerText()).toContain('None')
    await other.getByRole('button', { name: 'Keep it after all' }).click()
    await other.getByText('Your second membership continues.').waitFor()
    await other.getByText('$60.00 on April 10, 2027').waitFor()
  })

  it('stays visible when the first one changes or has ended', async () => {
    const page = await openProfile(running, [second])
    await page.getByRole('button', { name: 'Cancel membership' }).click()
    await page.getByRole('button', { name: 'Yes, cancel it' }).click()
    await page.getByText('Your membership is canceled.').waitFor()
    await section(page, 'Your second membership').waitFor()
    site.api.accounts.membership = { ...running, status: 'ended', endsAt: '2026-11-01T10:00:00.000Z' }
    await page.reload()
    await page.getByText('Your membership ended on November 1, 2026.').waitFor()
    await section(page, 'Your second membership').waitFor()
  })

  it('is not mentioned if there is none', async () => {
    const page = await openProfile(running)
    await page.getByText('$7.00 a month').waitFor()
    expect(await page.getByText('second membership').count()).toBe(0)
  })
})
