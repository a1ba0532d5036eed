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
      Yes, notify me
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
      <h1>{data ? `Alert for the ${data.productName}` : 'Shop alert'}</h1>
      {unknown && <Notice kind="error" title="We can’t find this request. It may already have been removed." />}
      {!unknown && error && (
        <Notice kind="error" title="We can’t look up your request right now. Please try again later." live />
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
          <p>{`Do you want an email when the ${data.productName} is available? One email, nothing else.`}</p>
          <Actions>
            {confirm}
            {remove}
            {toShop}
          </Actions>
        </>
      )}
      {data?.status === 'confirmed' && (
        <>
          <Notice kind="success" title={`We’ll email you when the ${data.productName} is available.`} live />
          <Actions>
            {remove}
            {toShop}
          </Actions>
        </>
      )}
      {data?.status === 'told' && (
        <>
          <Notice title="We’ve emailed you: this request is done." live />
          <Actions>
            {remove}
            {toShop}
          </Actions>
        </>
      )}
      {data?.status === 'removed' && (
        <>
          <Notice kind="success" title="Your address was removed from this list." live>
            We won’t email you about it again, even if someone enters your address.
          </Notice>
          <Actions>
            <Button variant="secondary" onClick={() => press('confirmation')} disabled={pending}>
              Notify me after all
            </Button>
            {toShop}
          </Actions>
        </>
      )}
      {!waiting && !data && <Actions>{toShop}</Actions>}
    </div>
  )
}
