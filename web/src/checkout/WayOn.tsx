import { type ComponentProps, lazy, Suspense } from 'react'
import type { WayOn as Way } from './way-on.ts'

// It is seldom met.
const WayOnDialog = lazy(async () => ({ default: (await import('./WayOnDialog.tsx')).WayOnDialog }))

type WayOnProps = Omit<ComponentProps<typeof WayOnDialog>, 'wayOn'> & { wayOn: Way | null }

/** Where a request was refused and there is a way on: says why, and leads there or back. Nothing while there is none. */
export function WayOn({ wayOn, ...rest }: WayOnProps) {
  return (
    wayOn && (
      <Suspense>
        <WayOnDialog wayOn={wayOn} {...rest} />
      </Suspense>
    )
  )
}
