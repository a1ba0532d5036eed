import { type ComponentProps, lazy, Suspense } from 'react'
import type { WayOn as Way } from './way-on.ts'

// Imported on demand: it is rarely needed.
const WayOnDialog = lazy(async () => ({ default: (await import('./WayOnDialog.tsx')).WayOnDialog }))

type WayOnProps = Omit<ComponentProps<typeof WayOnDialog>, 'wayOn'> & { wayOn: Way | null }

/** After a rejected request that offers a way to proceed: says why, and leads there or back. */
export function WayOn({ wayOn, ...rest }: WayOnProps) {
  return (
    wayOn && (
      <Suspense>
        <WayOnDialog wayOn={wayOn} {...rest} />
      </Suspense>
    )
  )
}
