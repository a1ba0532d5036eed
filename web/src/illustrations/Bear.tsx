import { Ground, Picture } from './Picture.tsx'

/** The teddy bear companion: soft outside, a small light where its heart is. */
export function Bear() {
  return (
    <Picture width={200} height={190}>
      <Ground x={100} y={178} rx={78} />
      <circle cx="56" cy="34" r="20" fill="var(--pic-wood)" />
      <circle cx="144" cy="34" r="20" fill="var(--pic-wood)" />
      <circle cx="56" cy="35" r="10" fill="var(--pic-wood-deep)" />
      <circle cx="144" cy="35" r="10" fill="var(--pic-wood-deep)" />
      <path d="M58 112c-20 4-30 20-28 38 10 6 20 2 26-8z" fill="var(--pic-wood)" />
      <path d="M142 112c20-10 34-26 32-44-12-6-24 0-28 12z" fill="var(--pic-wood)" />
      <path d="M52 132c0-28 20-40 48-40s48 12 48 40c0 30-20 44-48 44s-48-14-48-44z" fill="var(--pic-wood)" />
      <path
        d="M148 132c0 30-20 44-48 44-10 0-19-2-27-6 40 2 60-20 62-62 9 7 13 15 13 24z"
        fill="var(--pic-shade)"
        stroke="none"
      />
      <circle cx="100" cy="138" r="22" fill="var(--pic-light)" />
      <path d="M100 150c-10-7-14-12-12-18 2-5 9-5 12 0 3-5 10-5 12 0 2 6-2 11-12 18z" fill="var(--pic-red)" />
      <ellipse cx="58" cy="168" rx="22" ry="15" fill="var(--pic-wood)" />
      <ellipse cx="142" cy="168" rx="22" ry="15" fill="var(--pic-wood)" />
      <ellipse cx="56" cy="168" rx="11" ry="8" fill="var(--pic-wood-deep)" />
      <ellipse cx="144" cy="168" rx="11" ry="8" fill="var(--pic-wood-deep)" />
      <path d="M44 66c0-30 24-46 56-46s56 16 56 46-24 42-56 42-56-12-56-42z" fill="var(--pic-wood)" />
      <path
        d="M156 66c0 30-24 42-56 42-9 0-18-1-25-3 42-1 64-22 64-67 11 7 17 16 17 28z"
        fill="var(--pic-shade)"
        stroke="none"
      />
      <path d="M58 54c3-10 10-18 20-22" stroke="var(--pic-shine)" strokeWidth="4" />
      <ellipse cx="100" cy="82" rx="24" ry="18" fill="var(--pic-light)" />
      <circle cx="76" cy="62" r="8" fill="var(--pic-screen)" />
      <circle cx="124" cy="62" r="8" fill="var(--pic-screen)" />
      <circle cx="74" cy="60" r="3" fill="var(--pic-glow)" stroke="none" />
      <circle cx="122" cy="60" r="3" fill="var(--pic-glow)" stroke="none" />
      <path d="M92 74h16q0 9-8 9t-8-9z" fill="var(--pic-screen)" />
      <path d="M100 83v4m-9 1q4 5 9 0 5 5 9 0" />
      <path d="m100 110-24-9v20zm0 0 24-9v20z" fill="var(--pic-orange)" />
      <circle cx="100" cy="110" r="6" fill="var(--pic-orange)" />
    </Picture>
  )
}
