import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { api } from '../api/api.ts'
import { Actions } from '../checkout/StatusPage.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { TakesLonger } from '../ui/TakesLonger.tsx'
import { noticeAnswer } from './answers.ts'
import styles from './OrderPage.module.css'
import { isUnknown, noticeQuery } from './queries.ts'

/** The page that the stock alert mail links to. Opening it changes nothing: mail programs open links by themselves. */
export function NoticePage() {
  const { reference = '' } = useSearch({ from: '/shop/notice' })
  const queryClient = useQueryClient()
  const { data, error } = useQuery({ ...noticeQuery(reference), enabled: reference !== '' })
  const { pending, message, submit } = useSubmit('That did not work. Please try again.')

  const press = (step: 'confirmation' | 'removal') =>
    submit(async () => {
      const path = `/api/shop/notices/${encodeURIComponent(reference)}/${step}` as const
      const notice = await api(path, { method: 'POST', body: {}, answer: noticeAnswer })
      queryClient.setQueryData(noticeQuery(reference).queryKey, notice)
    })
  const confirm = (
    <Button onClick={() => press('confirmation')} pending={pending}>
      Yes, tell me
    </Button>
  )
  const remove = (
    <Button variant="secondary" onClick={() => press('removal')} disabled={pending}>
      Remove my address
    </Button>
  )
  const toShop = (
    <ButtonLink to="/shop" variant="secondary">
      Go to the shop
    </ButtonLink>
  )
  const unknown = reference === '' || isUnknown(error)
  const waiting = !data && !error && !unknown
  return (
    <div className={styles.page} aria-busy={waiting}>
      <h1>{data ? `News of the ${data.productName}` : 'News from the shop'}</h1>
      {unknown && <Notice kind="error" title="We have no such request. It may have been removed already." />}
      {!unknown && error && (
        <Notice kind="error" title="We cannot look it up right now. Please try again later." live />
      )}
      {waiting && (
        <>
          <Skeleton height="6rem" />
          <TakesLonger />
        </>
      )}
      {message && <Notice kind="error" title={message.text} live />}
      {data?.status === 'unconfirmed' && (
        <>
          <p>{`Shall we write to you when the ${data.productName} can be had? One email, nothing else.`}</p>
          <Actions>
            {confirm}
            {remove}
            {toShop}
          </Actions>
        </>
      )}
      {data?.status === 'confirmed' && (
        <>
          <Notice kind="success" title={`We will tell you when the ${data.productName} can be had.`} live />
          <Actions>
            {remove}
            {toShop}
          </Actions>
        </>
      )}
      {data?.status === 'told' && (
        <>
          <Notice title="We have told you: this request is done." live />
          <Actions>
            {remove}
            {toShop}
          </Actions>
        </>
      )}
      {data?.status === 'removed' && (
        <>
          <Notice kind="success" title="Your address is removed from this list." live>
            We will not write to you about it again, even if somebody types in your address.
          </Notice>
          <Actions>
            <Button variant="secondary" onClick={() => press('confirmation')} disabled={pending}>
              Tell me after all
            </Button>
            {toShop}
          </Actions>
        </>
      )}
      {!waiting && !data && <Actions>{toShop}</Actions>}
    </div>
  )
}
