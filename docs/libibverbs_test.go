package docs

import (
	"strings"
	"testing"
)

const libibverbs = "libibverbs.md"

// The symbols that libibverbs.map.in exports, without those that only
// rdma-core itself may use, except for the DMA-buf heap, and the functions that
// verbs.h defines or declares besides (rdma-core 65).
const libibverbsSymbols = `
ibv_get_device_list ibv_free_device_list ibv_get_device_name ibv_get_device_guid ibv_get_device_index
ibv_open_device ibv_close_device ibv_get_async_event ibv_ack_async_event ibv_query_device ibv_query_port
ibv_query_gid ibv_query_pkey ibv_get_pkey_index ibv_alloc_pd ibv_dealloc_pd ibv_reg_mr ibv_dereg_mr
ibv_create_comp_channel ibv_destroy_comp_channel ibv_create_cq ibv_resize_cq ibv_destroy_cq
ibv_get_cq_event ibv_ack_cq_events ibv_create_srq ibv_modify_srq ibv_query_srq ibv_destroy_srq
ibv_create_qp ibv_query_qp ibv_modify_qp ibv_destroy_qp ibv_create_ah ibv_destroy_ah ibv_attach_mcast
ibv_detach_mcast ibv_rate_to_mult mult_to_ibv_rate ibv_rate_to_mbps mbps_to_ibv_rate
ibv_copy_path_rec_from_kern ibv_copy_path_rec_to_kern ibv_copy_qp_attr_from_kern
ibv_copy_ah_attr_from_kern ibv_get_sysfs_path ibv_read_sysfs_file ibv_register_driver
ibv_create_ah_from_wc ibv_init_ah_from_wc ibv_dofork_range ibv_dontfork_range ibv_fork_init
ibv_is_fork_initialized ibv_event_type_str ibv_node_type_str ibv_port_state_str ibv_wc_status_str
ibv_rereg_mr ibv_resolve_eth_l2_from_gid ibv_qp_to_qp_ex ibv_reg_mr_iova ibv_reg_mr_iova2
ibv_import_device ibv_import_mr ibv_import_pd ibv_import_dm ibv_unimport_mr ibv_unimport_pd
ibv_unimport_dm ibv_query_ece ibv_set_ece ibv_reg_dmabuf_mr ibv_query_qp_data_in_order ibv_alloc_dmah
ibv_dealloc_dmah ibv_reg_mr_ex ibv_dm_export_dmabuf_fd ibv_query_port_speed ibv_alloc_buf ibv_free_buf
ibv_reg_buf_mr ibv_export_buf_dmabuf_fd ibv_create_comp_cntr ibv_destroy_comp_cntr ibv_inc_comp_cntr
ibv_inc_err_comp_cntr ibv_qp_attach_comp_cntr ibv_read_comp_cntr ibv_read_err_comp_cntr
ibv_set_comp_cntr ibv_set_err_comp_cntr ibv_dmabuf_heap_alloc ibv_dmabuf_heap_cc_shared_init
ibv_dmabuf_heap_destroy ibv_dmabuf_heap_free

ibv_wr_atomic_cmp_swp ibv_wr_atomic_fetch_add ibv_wr_bind_mw ibv_wr_local_inv ibv_wr_rdma_read
ibv_wr_rdma_write ibv_wr_flush ibv_wr_rdma_write_imm ibv_wr_send ibv_wr_send_imm ibv_wr_send_inv
ibv_wr_send_tso ibv_wr_set_ud_addr ibv_wr_set_xrc_srqn ibv_wr_set_inline_data
ibv_wr_set_inline_data_list ibv_wr_set_sge ibv_wr_set_sge_list ibv_wr_start ibv_wr_complete
ibv_wr_abort ibv_wr_atomic_write ibv_cq_ex_to_cq ibv_start_poll ibv_next_poll ibv_end_poll
ibv_wc_read_opcode ibv_wc_read_vendor_err ibv_wc_read_byte_len ibv_wc_read_imm_data
ibv_wc_read_invalidated_rkey ibv_wc_read_qp_num ibv_wc_read_src_qp ibv_wc_read_wc_flags
ibv_wc_read_slid ibv_wc_read_sl ibv_wc_read_dlid_path_bits ibv_wc_read_completion_ts
ibv_wc_read_completion_wallclock_ns ibv_wc_read_cvlan ibv_wc_read_flow_tag ibv_wc_read_tm_info
ibv_post_wq_recv ibv_query_gid_ex ibv_query_gid_table ibv_create_flow ibv_destroy_flow
ibv_create_flow_action_esp ibv_modify_flow_action_esp ibv_destroy_flow_action ibv_open_xrcd
ibv_close_xrcd ibv_alloc_mw ibv_dealloc_mw ibv_inc_rkey ibv_bind_mw ibv_advise_mr ibv_alloc_dm
ibv_free_dm ibv_memcpy_to_dm ibv_memcpy_from_dm ibv_alloc_null_mr ibv_reg_dm_mr ibv_create_cq_ex
ibv_poll_cq ibv_req_notify_cq ibv_modify_cq ibv_query_comp_cntr_caps ibv_create_srq_ex
ibv_get_srq_num ibv_post_srq_recv ibv_post_srq_ops ibv_create_qp_ex ibv_alloc_td ibv_dealloc_td
ibv_alloc_parent_domain ibv_query_rt_values_ex ibv_query_device_ex ibv_open_qp
ibv_modify_qp_rate_limit ibv_create_wq ibv_modify_wq ibv_destroy_wq ibv_create_rwq_ind_table
ibv_destroy_rwq_ind_table ibv_post_send ibv_post_recv ibv_is_qpt_supported ibv_create_counters
ibv_destroy_counters ibv_attach_counters_point_flow ibv_read_counters ibv_flow_label_to_udp_sport
ibv_static_providers ibv_wr_opcode_str`

// TestVerbsNames is TestNames for this page.
func TestVerbsNames(t *testing.T) { checkNames(t, libibverbs, 200) }

// TestVerbsRows: one row names each symbol; what has a counterpart has a test.
func TestVerbsRows(t *testing.T) {
	want := count(strings.Fields(libibverbsSymbols)...)
	if len(want) != 191 {
		t.Errorf("%d symbols in this test", len(want))
	}
	checkRows(t, libibverbs, want, func(row []string) {
		if len(row) != 4 {
			t.Errorf("%d cells in %s", len(row), row)
			return
		}
		none := strings.HasPrefix(row[1], "none") || row[1] == "not yet"
		if !none && !strings.Contains(row[3], "Test") {
			t.Errorf("%s has no test", row[0])
		}
		if row[1] == "none" && row[2] == "–" {
			t.Errorf("%s: none, without a reason", row[0])
		}
	})
}

// TestVerbsWalk: the document shows the package's example.
func TestVerbsWalk(t *testing.T) {
	checkCode(t, libibverbs, "../uverbs/example_connect_test.go", "connectByHand")
}
