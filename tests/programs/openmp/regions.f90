! Two regions in Fortran, one with ten times as much work as the other, by call paths:
!     regions > heavy > region > work_heavy
!     regions > light > region > work_light
module work_of_regions
  implicit none
contains
  subroutine work_heavy(sum)
    real(8), intent(inout) :: sum
    integer :: i
    do i = 1, 200000000
      sum = sum + 1.0d0 / i
    end do
  end subroutine
  subroutine work_light(sum)
    real(8), intent(inout) :: sum
    integer :: i
    do i = 1, 20000000
      sum = sum + 1.0d0 / i
    end do
  end subroutine
  subroutine heavy(total)
    real(8), intent(inout) :: total
    real(8) :: sum
    !$omp parallel private(sum)
    sum = 0
    call work_heavy(sum)
    !$omp critical (adding)
    total = total + sum
    !$omp end critical (adding)
    !$omp end parallel
  end subroutine
  subroutine light(total)
    real(8), intent(inout) :: total
    real(8) :: sum
    !$omp parallel private(sum)
    sum = 0
    call work_light(sum)
    !$omp critical (adding)
    total = total + sum
    !$omp end critical (adding)
    !$omp end parallel
  end subroutine
end module

program regions
  use work_of_regions
  implicit none
  real(8) :: total
  total = 0
  call heavy(total)
  call light(total)
  if (total < 0) print *, total
end program
