# shellcheck shell=bash disable=SC2034,SC2054
# What differs between the processors that guests emulate.

# qemu_command prints the name of QEMU for $ARCH.
qemu_command() {
	case $ARCH in
	amd64) echo qemu-system-x86_64 ;;
	arm64) echo qemu-system-aarch64 ;;
	s390x) echo qemu-system-s390x ;;
	esac
}

# machine_args DIR sets MACHINE to QEMU's arguments for the machine and for the
# lines that its guest tells results on: DIR/console, out, err and ctl.
machine_args() {
	local line dir
	dir=$(quoted "$1")
	MACHINE=(
		-chardev "file,id=log,path=$dir/console" -chardev "file,id=out,path=$dir/out"
		-chardev "file,id=err,path=$dir/err" -chardev "file,id=ctl,path=$dir/ctl"
	)
	case $ARCH in
	amd64)
		MACHINE+=(
			-machine q35 -cpu max -device isa-debug-exit,iobase=0xf4,iosize=1
			-serial chardev:log -serial chardev:out -serial chardev:err -serial chardev:ctl
		)
		return
		;;
	arm64)
		# The model "max" spends its time on pointer authentication.
		MACHINE+=(-machine virt -cpu cortex-a72 -serial chardev:log -device virtio-serial-pci)
		;;
	s390x)
		MACHINE+=(-machine s390-ccw-virtio -cpu max -device sclpconsole,chardev=log -device virtio-serial-ccw)
		;;
	esac
	for line in out err ctl; do
		MACHINE+=(-device "virtserialport,chardev=$line,name=rdma-vm.$line")
	done
}

# network_device prints the name of the virtual network card.
network_device() {
	case $ARCH in
	s390x) echo virtio-net-ccw ;;
	*) echo virtio-net-pci,romfile= ;;
	esac
}

# machine_parameters prints kernel parameters.
machine_parameters() {
	case $ARCH in
	amd64)
		printf '%s' 'console=ttyS0 no5lvl tsc=reliable no_timer_check ' \
			'initcall_blacklist=crypto_kdf108_init,jent_mod_init,init_encrypted'
		;;
	arm64) printf 'console=ttyAMA0' ;;
	s390x) printf 'console=ttysclp0' ;;
	esac
}

# line_modules prints the modules a guest needs to tell anything.
line_modules() {
	[[ $ARCH == amd64 ]] || echo virtio_pci virtio_console
}
