import { Picture } from './Picture.tsx'
import { type Hair, Portrait } from './Portrait.tsx'

export interface AvatarLooks {
  skin: 1 | 2 | 3
  hair: Hair
  hairColour: string
  shirt: string
  ground: string
}

/** Somebody who says something, in a round frame. */
export function Avatar({ ground, ...looks }: AvatarLooks) {
  return (
    <Picture width={80} height={80}>
      <clipPath id={`avatar-${looks.hair}`}>
        <circle cx="40" cy="40" r="38" />
      </clipPath>
      <g clipPath={`url(#avatar-${looks.hair})`}>
        <rect width="80" height="80" fill={ground} stroke="none" />
        <Portrait {...looks} y={4} />
      </g>
      <circle cx="40" cy="40" r="38" />
    </Picture>
  )
}
