import { randomUUIDv7 } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eventually } from '../src/bed.ts'
import { pageOf, password, refusalOf, type Stage } from './stage.ts'

/** The owner of purchases while accounts and addresses change. */
export function accountInteractions(stage: () => Stage): void {
  describe('Memberships and accounts', () => {
    it('A membership paid before the new account is confirmed belongs to that account', async () => {
      const email = stage().address()
      const page = await stage().membershipPage(email)
      const pendingMember = await stage().pendingMember(email)
      await stage().join(page)
      const { browser } = await stage().confirm(pendingMember)
      await stage().settled()
      expect(await browser.found()).toMatchObject({
        membership: { membershipId: page.id, status: 'active' },
        others: [],
      })
    })

    it('A membership whose page was opened before its account existed belongs to that account', async () => {
      const email = stage().address()
      const page = await stage().membershipPage(email)
      const { browser } = await stage().account(email)
      await stage().join(page)
      await stage().settled()
      expect((await browser.membership()).membershipId).toBe(page.id)
      expect((await browser.post('/api/membership/cancel')).body).toMatchObject({
        endsAt: expect.any(String) as string,
      })
      expect(stage().renews(page.id)).toBe(false)
    })

    it('A membership bought while signed in for another address stays with the buyer when that address signs up', async () => {
      const { browser } = await stage().account()
      const theirs = stage().address()
      const page = await stage().join(await stage().membershipPage(theirs, { browser }))
      const other = await stage().account(theirs)
      await stage().settled()
      expect((await browser.membership()).membershipId).toBe(page.id)
      expect(await other.browser.found()).toEqual({ membership: null, others: [] })
      // The other account can have its own membership.
      const own = await stage().join(await stage().membershipPage(theirs, { browser: other.browser }))
      await stage().settled()
      expect((await other.browser.membership()).membershipId).toBe(own.id)
      expect((await browser.found()).others).toEqual([])
    })

    it('A deleted account’s membership ends, and is shown to the account that takes its address beside its own', async () => {
      const [first, second] = [await stage().member(), await stage().member()]
      await stage().deleteAccount(second)
      await stage().settled()
      await stage().moveTo(first, second.email)
      await stage().settled()
      const { membership, others } = await first.browser.found()
      expect(membership).toMatchObject({ membershipId: first.id, status: 'active', endsAt: null })
      expect(others).toMatchObject([{ membershipId: second.id, endsAt: expect.any(String) as string }])
      expect([stage().renews(first.id), stage().renews(second.id)]).toEqual([true, false])
    })

    it('A deleted account’s membership is found by a new account with its address, which can resume it', async () => {
      const before = await stage().member()
      await stage().deleteAccount(before)
      await stage().settled()
      expect(stage().renews(before.id)).toBe(false)
      const { browser } = await stage().account(before.email)
      await stage().settled()
      expect(await browser.membership()).toMatchObject({
        membershipId: before.id,
        endsAt: expect.any(String) as string,
      })
      const resumed = await browser.post('/api/membership/resume')
      expect(resumed).toMatchObject({ status: 200, body: { endsAt: null } })
      await stage().settled()
      // The deletion of its first account is published again, and has no effect.
      await stage().republish('identity')
      await stage().settled()
      expect(stage().renews(before.id)).toBe(true)
      await stage().passPeriod(before.id)
      await stage().settled()
      expect(stage().charges(before.id)).toHaveLength(2)
      expect((await browser.membership()).payments).toHaveLength(2)
    })

    it('A browser whose account was deleted elsewhere cannot buy a membership until it signs up again', async () => {
      const account = await stage().account()
      const stale = account.browser.copy()
      await stage().deleteAccount(account)
      await stage().settled()
      const { email } = account
      const request = { email, plan: 'monthly', classDate: await stage().date() }
      expect(refusalOf(await stale.post('/api/createStripeSession', request))).toBe('sign_in_required')
      const { browser } = await stage().account(email)
      const page = await stage().join(await stage().membershipPage(email, { browser }))
      await stage().settled()
      expect((await browser.membership()).membershipId).toBe(page.id)
    })

    it('A membership is not renewed while its account is disabled, and continues after that only if the member resumes it', async () => {
      const { browser, email, id } = await stage().member()
      await stage().administerAccount('AdminDisableUser', email)
      await stage().settled()
      expect(stage().renews(id)).toBe(false)
      await stage().administerAccount('AdminEnableUser', email)
      await stage().settled()
      expect(stage().renews(id)).toBe(false)
      const again = stage().browser()
      await again.signIn(email)
      expect(await again.membership()).toMatchObject({ membershipId: id, endsAt: expect.any(String) as string })
      expect((await again.post('/api/membership/resume')).status).toBe(200)
      await stage().settled()
      await stage().republish('identity')
      await stage().settled()
      expect(stage().renews(id)).toBe(true)
      expect(browser.userId).toBe(again.userId)
    })

    it('A membership bought while signed in with an unverified address is the same before and after verification', async () => {
      const account = await stage().account()
      const next = stage().address()
      await stage().moveTo(account, next, false)
      const page = await stage().join(await stage().membershipPage(next, { browser: account.browser }))
      await stage().settled()
      expect(await account.browser.found()).toMatchObject({ membership: { membershipId: page.id }, others: [] })
      await stage().prove(account, next)
      await stage().settled()
      expect(await account.browser.found()).toMatchObject({ membership: { membershipId: page.id }, others: [] })
      expect((await account.browser.post('/api/membership/cancel')).status).toBe(200)
    })

    it('A membership bought by an address’s owner is not shown to an account that has not verified that address', async () => {
      const account = await stage().account()
      const somebodyElses = stage().address()
      await stage().moveTo(account, somebodyElses, false)
      const page = await stage().join(await stage().membershipPage(somebodyElses))
      await stage().settled()
      expect(await account.browser.found()).toEqual({ membership: null, others: [] })
      expect(refusalOf(await account.browser.post('/api/membership/cancel'))).toBe('membership_not_found')
      const { browser } = await stage().account(somebodyElses)
      await stage().settled()
      expect((await browser.membership()).membershipId).toBe(page.id)
    })

    it('A membership stays with its account when the address changes to another and back, and mails go to the current one', async () => {
      const member = await stage().member()
      const other = stage().address()
      await stage().moveTo(member, other)
      await stage().moveTo(member, member.email)
      await stage().settled()
      expect(await member.browser.found()).toMatchObject({ membership: { membershipId: member.id }, others: [] })
      expect((await member.browser.post('/api/membership/cancel')).status).toBe(200)
      await stage().settled()
      const about = /will not renew|cancel|ends/i
      expect((await stage().subjects(member.email)).filter((subject) => about.test(subject))).toHaveLength(1)
      expect((await stage().subjects(other)).filter((subject) => about.test(subject))).toEqual([])
    })

    it('A browser signed out by a new password cannot cancel the membership', async () => {
      const { browser, id } = await stage().member()
      const other = stage().browser()
      const { body } = await browser.get('/api/profile')
      await other.signIn(String(body['email']))
      const change = { previousPassword: password, proposedPassword: 'Another-2031!' }
      const [changed] = await Promise.all([
        browser.post('/api/auth/change-password', change),
        other.get('/api/membership'),
        other.copy().get('/api/membership'),
      ])
      expect(changed.status).toBe(200)
      expect(refusalOf(await other.post('/api/membership/cancel'))).toBe('sign_in_required')
      expect(stage().renews(id)).toBe(true)
      expect((await browser.membership()).endsAt).toBeNull()
    })

    it('An older tab of a user who has signed out cannot cancel the membership', async () => {
      const { browser, id, userId } = await stage().member()
      await browser.post('/api/auth/sign-out', {})
      browser.userId = userId
      expect(refusalOf(await browser.post('/api/membership/cancel'))).toBe('sign_in_required')
      expect(stage().renews(id)).toBe(true)
    })

    it('A membership belongs to its account even if the account’s event arrives after the payment', async () => {
      const email = stage().address()
      const pendingMember = await stage().pendingMember(email)
      const code = await stage().codeTo(email)
      const release = await stage().holdPublishing('identity')
      const page = await stage().membershipPage(email)
      try {
        await pendingMember.browser.post('/api/auth/confirm-sign-up', { email, code })
        await stage().join(page)
      } finally {
        await release()
      }
      await stage().settled()
      expect((await pendingMember.browser.membership()).membershipId).toBe(page.id)
      expect((await pendingMember.browser.post('/api/membership/cancel')).status).toBe(200)
    })

    it('A membership paid after its account was deleted, before the event arrives, is not renewed', async () => {
      const account = await stage().account()
      const page = await stage().membershipPage(account.email, { browser: account.browser })
      const release = await stage().holdPublishing('identity')
      try {
        await stage().deleteAccount(account)
        await stage().join(page)
        expect(stage().renews(page.id)).toBe(true)
      } finally {
        await release()
      }
      await stage().settled()
      expect(stage().renews(page.id)).toBe(false)
    })

    it('A membership bought while identity is down belongs to the signed-in user', async () => {
      const { browser } = await stage().account()
      const [email, classDate] = [stage().address(), await stage().date()]
      await stage().system.processes.identity.kill()
      const page = await stage().membershipPage(email, { browser, classDate })
      await stage().join(page)
      await stage().system.processes.identity.start()
      await stage().settled()
      expect((await browser.membership()).membershipId).toBe(page.id)
    })

    it('Republishing all identity events changes no membership’s owner and sends no mail', async () => {
      const member = await stage().member()
      const [second, third] = [stage().address(), stage().address()]
      await stage().moveTo(member, second)
      await stage().moveTo(member, third)
      const successor = await stage().account(second)
      await stage().settled()
      const mails = await stage().subjects(third)
      await stage().republish('identity')
      await stage().settled()
      expect(await member.browser.found()).toMatchObject({ membership: { membershipId: member.id }, others: [] })
      expect(await successor.browser.found()).toEqual({ membership: null, others: [] })
      expect(await stage().subjects(third)).toEqual(mails)
    })

    it('Opening a membership’s page anonymously and then signed in makes one membership with one charge', async () => {
      const { browser, email } = await stage().account()
      const pages = [
        await stage().membershipPage(email),
        await stage().membershipPage(email, { browser, plan: 'yearly' }),
      ]
      const outcomes: string[] = []
      for (const page of pages) outcomes.push(await stage().pay(page))
      expect(outcomes).toEqual(['expired', 'paid'])
      await stage().settled()
      expect(await browser.found()).toMatchObject({
        membership: { membershipId: pages[1]?.id, plan: 'yearly' },
        others: [],
      })
      expect(stage().kept(...pages.map(({ id }) => id))).toBe(6_000)
    })

    it('An anonymous buyer never pays on the page that another account opened for the same address', async () => {
      const { browser } = await stage().account()
      const [theirs, classDate] = [stage().address(), await stage().date(2)]
      const given = await stage().membershipPage(theirs, { browser, classDate })
      const own = await stage().membershipPage(theirs, { classDate })
      expect(own.id).not.toBe(given.id)
      expect([await stage().pay(given), await stage().pay(own)]).toEqual(['expired', 'paid'])
      await eventually(async () => (await stage().outcome(own.id)).status === 'confirmed')
      const other = await stage().account(theirs)
      await stage().settled()
      expect((await other.browser.membership()).membershipId).toBe(own.id)
      expect(await browser.found()).toEqual({ membership: null, others: [] })
      expect(await stage().seatsLeft('membership', classDate)).toBe(1)
    })

    it('A signed-in buyer never pays on the page that another account opened for the same address', async () => {
      const [given, own] = [await stage().account(), await stage().account()]
      const classDate = await stage().date()
      const first = await stage().membershipPage(own.email, { browser: given.browser, classDate })
      const second = await stage().membershipPage(own.email, { browser: own.browser, classDate })
      expect(second.id).not.toBe(first.id)
      expect([await stage().pay(first), await stage().pay(second)]).toEqual(['expired', 'paid'])
      await stage().settled()
      expect((await own.browser.membership()).membershipId).toBe(second.id)
      expect(await given.browser.found()).toEqual({ membership: null, others: [] })
    })

    it('An anonymous and a signed-in membership of one account are charged once, or both can be cancelled', async () => {
      const { browser, email } = await stage().account()
      const byAddress = await stage().membershipPage(email)
      const signedIn = await browser.post('/api/createStripeSession', {
        email: stage().address(),
        plan: 'monthly',
        classDate: await stage().date(),
      })
      await stage().pay(byAddress)
      if (signedIn.status === 200) await stage().pay({ url: String(signedIn.body['url']) })
      await stage().settled()
      const { membership, others } = await browser.found()
      const shown = [membership, ...others].filter((one) => one?.status === 'active' && one.endsAt === null)
      const renewing = [...stage().system.provider.subscriptions.values()]
        .map(({ metadata }) => metadata['attemptId'] ?? '')
        .filter((id) => [byAddress.id, ...shown.map((one) => one?.membershipId)].includes(id) && stage().renews(id))
      expect(new Set(shown.map((one) => one?.membershipId))).toEqual(new Set(renewing))
      const kept = stage().kept(...new Set([byAddress.id, ...shown.map((one) => one?.membershipId ?? '')]))
      expect(kept).toBe(700 * shown.length)
    })
  })

  describe('Registrations and accounts', () => {
    it('A waiver can be signed from the old and the new page after the account’s address has changed', async () => {
      const account = await stage().account()
      const registered = await stage().register({ email: account.email }, account.browser)
      await stage().pay(registered)
      await stage().system.reaches(registered.id, 'confirmed')
      await stage().moveTo(account, stage().address())
      await stage().settled()
      const { email } = await stage().registration(registered.id)
      // The tab opened before the change, and the current page.
      expect((await stage().sign(registered)).status).toBe(200)
      expect((await stage().sign(registered, { email })).status).toBe(200)
      await stage().system.reaches(registered.id, 'waiver_signed')
    })

    it('An account cannot register the same child again under another address while the first registration stands', async () => {
      const account = await stage().account()
      const first = await stage().register({ email: account.email }, account.browser)
      await stage().pay(first)
      await stage().system.reaches(first.id, 'confirmed')
      await stage().moveTo(account, stage().address())
      await stage().settled()
      const form = {
        ...first.body,
        id: randomUUIDv7(),
        email: String((await account.browser.get('/api/profile')).body['email']),
      }
      const submit = async (differences: object) =>
        account.browser.post('/api/registrations', await stage().form({ ...form, id: randomUUIDv7(), ...differences }))
      // An identical form is the same registration.
      const confirmation = `${stage().system.siteUrl}/robokids/success?reference=${first.id}`
      expect(pageOf(await submit({})).url).toBe(confirmation)
      expect(refusalOf(await submit({ city: 'Fremont' }))).toBe('already_registered')
      expect(refusalOf(await submit({ email: stage().address() }))).toBe('already_registered')
      expect(stage().kept(first.id)).toBe(40_000)
    })

    it('An older tab of another account cannot register, order or join', async () => {
      const account = await stage().account()
      const olderTab = account.browser.copy()
      const other = await stage().account()
      const tab = other.browser.copy()
      tab.userId = olderTab.userId
      const form = await stage().form()
      expect(refusalOf(await tab.post('/api/registrations', form))).toBe('other_account')
      expect(await stage().seatsLeft('basic', form.startDate)).toBe(10)
      const order = { orderId: randomUUIDv7(), items: [{ sku: 'product:robot-spider', quantity: 1 }] }
      expect(refusalOf(await tab.post('/api/checkout', order))).toBe('other_account')
      const request = { email: account.email, plan: 'monthly', classDate: form.startDate }
      expect(refusalOf(await tab.post('/api/createStripeSession', request))).toBe('other_account')
      expect(await stage().seatsLeft('membership', form.startDate)).toBe(10)
    })

    it('A registration whose account is deleted while it is paid is confirmed or never charged', async () => {
      const accounts = await Promise.all([stage().account(), stage().account(), stage().account()])
      const families = await Promise.all(accounts.map(({ email, browser }) => stage().register({ email }, browser)))
      await Promise.all([
        ...families.map((family) => stage().pay(family)),
        ...accounts.map((account) => stage().deleteAccount(account)),
      ])
      await stage().settled()
      for (const { id } of families) {
        const { status } = await stage().registration(id)
        expect([status, stage().kept(id)]).toEqual(
          status === 'confirmed' ? ['confirmed', 40_000] : [status === 'rejected' ? 'rejected' : 'expired', 0],
        )
      }
    })

    it('A deleted account’s waiver can be signed by the link in its mail', async () => {
      const account = await stage().account()
      const registered = await stage().register({ email: account.email }, account.browser)
      await stage().pay(registered)
      await stage().system.reaches(registered.id, 'confirmed')
      await stage().deleteAccount(account)
      await stage().settled()
      expect((await stage().registration(registered.id)).status).toBe('confirmed')
      expect((await stage().sign(registered)).status).toBe(200)
      expect((await stage().ship(registered.id)).status).toBe(200)
    })

    it('Pages opened before an address change send their confirmations to the new address', async () => {
      const account = await stage().account()
      const registered = await stage().register({ email: account.email }, account.browser)
      const page = await stage().membershipPage(account.email, { browser: account.browser })
      const next = stage().address()
      await stage().moveTo(account, next)
      await stage().settled()
      await stage().pay(registered)
      await stage().join(page)
      await stage().settled()
      const about = /confirmed|registered|a member/i
      expect((await stage().subjects(next)).filter((subject) => about.test(subject))).toHaveLength(2)
      expect((await stage().subjects(account.email)).filter((subject) => about.test(subject))).toEqual([])
      const successor = await stage().account(account.email)
      await stage().settled()
      expect(await successor.browser.found()).toEqual({ membership: null, others: [] })
      expect((await account.browser.membership()).membershipId).toBe(page.id)
    })

    it('A registration whose account is deleted before payment cannot be paid, and its seat is free', async () => {
      const account = await stage().account()
      const registered = await stage().register({ email: account.email }, account.browser)
      await stage().deleteAccount(account)
      await stage().settled()
      expect(await stage().pay(registered)).toBe('expired')
      expect(stage().charges(registered.id)).toEqual([])
      expect(await stage().seatsLeft('basic', registered.body.startDate)).toBe(10)
    })
  })
}
